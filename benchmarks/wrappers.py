"""Measures what our programs cost around the framework: ``run`` of a sample against the bare loop of a user.

    nox -s benchmarks -- wrappers [TURNS [ENVIRONMENT …]]

Both call the same transformed function in one process of the environment, in turns, on one thread: CPU time per step.
In a graph of TensorFlow, the user's function is traced by itself and returns tensors without names.
The steps are the shortest there are, where wrappers weigh most. A wrapper must cost less than the limit. Where the
interval of the median ratio (McGill, Tukey and Larsen 1978) contains the limit, the verdict is "unclear".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host.study import study_file

from ._environments import ROOT, answer, interpreter_of, variables_of

PROGRAM = Path(__file__).resolve().parent / "_wrapped.py"
CELLS = (("dispatch", "tiny"), ("gemm", "tiny"), ("mlp-train", "tiny"))
#: jit-loop has no bare form: its loop is the executable.
MODES = {
    "torch1": ("eager", "torchscript"),
    "torch2": ("eager", "torchscript", "compile", "compile-step"),
    "tf2": ("eager", "function", "xla"),
    "jax": ("eager", "jit", "jit-async"),
}
TURNS = 60
TIMEOUT_S = 600
LIMIT = 1.02


def verdict(low: float, high: float) -> str:
    """Judge by the interval of the median ratio: within the limit, beyond it, or unclear."""
    if high <= LIMIT:
        return "within 2 %"
    return "more than 2 %" if low > LIMIT else "unclear"


def compare(command: tuple[str, ...], arguments: list[str]) -> list[str]:
    """Return the cells of a row: both medians; median, quartiles and interval of the turns' ratios; the verdict."""
    made = variables_of(command, arguments[0])
    times = json.loads(answer([*command, str(PROGRAM), *arguments], made, TIMEOUT_S))
    ours, bare = np.array(times["ours_s"]), np.array(times["bare_s"])
    low, middle, high = np.quantile(ours / bare, [0.25, 0.5, 0.75])
    notch = 1.57 * (high - low) / len(ours) ** 0.5
    return [
        f"{np.median(ours) * 1e6:.2f}",
        f"{np.median(bare) * 1e6:.2f}",
        f"{middle:.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{middle - notch:.3f} to {middle + notch:.3f}",
        verdict(middle - notch, middle + notch),
    ]


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where a wrapper costs more than the limit."""
    turns = arguments[0] if arguments else str(TURNS)
    study = study_file.load(ROOT / "matrix.toml")
    rows = []
    for environment in arguments[1:] or MODES:
        command = interpreter_of(environment)
        framework = str(study.environments[environment].framework)
        for mode in MODES[environment]:
            for workload, size in CELLS:
                cells = compare(command, [framework, mode, workload, size, turns])
                rows.append([environment, mode, f"{workload}/{size}", *cells])
                print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    headers = [
        "environment", "mode", "cell", "ours / µs", "bare / µs", "ours / bare", "middle half", "interval", "verdict",
    ]  # fmt: skip
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return int(any(row[-1] == "more than 2 %" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
