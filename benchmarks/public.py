"""Compares the speed of our implementations with public ones of the same computation in the same framework.

    nox -s benchmarks -- public [SIZE [TURNS [THREADS]]]

Both run in one process of the environment and take turns, so that a slow minute affects both. The public ones use the
framework's own parts: torch.nn and torch.optim, Keras layers and optimizers, jax.example_libraries and jax.nn. A ratio
below 1 means that ours is faster. Ours must not be slower by more than the limit. Where the middle half of a row's
ratios contains the limit, the machine was too busy and the verdict is "unclear". On a busy machine one thread gives
steadier times, as PyTorch's waiting threads spin.

The attention of PyTorch and Keras adds a bias to queries, keys and values, which the specification lacks, so these
public encoders do slightly more work than ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host import environments
from bench.host.environments import variables
from bench.host.study import study_file
from bench.record import OK
from bench.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).resolve().parent / "public_steps" / "alternate.py"
WORKLOADS = ("mlp-train", "lenet-train", "transformer-encoder")
#: Without TorchScript, which has no public program of its own, and eager JAX, which is not meant to be fast.
COLUMNS = (
    ("torch1", "eager"), ("torch2", "eager"), ("torch2", "compile"), ("tf2", "eager"), ("tf2", "function"),
    ("tf2", "xla"), ("jax", "jit"),
)  # fmt: skip
TURNS = 20
THREADS = min(2, len(os.sched_getaffinity(0)))
TIMEOUT_S = 300
LIMIT = 1.05


def verdict(low: float, high: float) -> str:
    """Judge by the middle half of the ratios: not slower, slower, or unclear."""
    if high <= LIMIT:
        return "not slower"
    return "slower" if low > LIMIT else "unclear"


def compare(command: tuple[str, ...], arguments: list[str], threads: int) -> list[str]:
    """Return the cells of a row: both medians, median and quartiles of the ratios of the turns, and the verdict."""
    extra = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run(
        [*command, str(PROGRAM), *arguments],
        env=variables.of_worker(threads, BUILT_IN.facts(arguments[0]), own=extra),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    times = json.loads(done.stdout.splitlines()[-1])
    ours, public = np.array(times["ours_s"]), np.array(times["public_s"])
    low, middle, high = np.quantile(ours / public, [0.25, 0.5, 0.75])
    return [
        f"{np.median(ours) * 1e6:.0f}",
        f"{np.median(public) * 1e6:.0f}",
        f"{middle:.2f}",
        f"{low:.2f} to {high:.2f}",
        verdict(low, high),
    ]


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where ours is slower than the limit allows."""
    size, turns, threads = [*arguments, *["tiny", str(TURNS), str(THREADS)][len(arguments) :]]
    study = study_file.load(ROOT / "matrix.toml")
    rows = []
    for environment, mode in COLUMNS:
        prepared = environments.load_outcome(environment, root=ROOT)
        if prepared is None or prepared.status != OK:
            raise SystemExit(f"environment {environment} is not prepared: run nox -s tests once")
        framework = str(study.environments[environment].framework)
        for workload in WORKLOADS:
            cells = compare(prepared.command, [framework, mode, workload, size, turns], int(threads))
            rows.append([environment, mode, workload, *cells])
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    headers = ["environment", "mode", "workload", "ours / µs", "public / µs", "ours / public", "middle half", "verdict"]
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return int(any(row[-1] == "slower" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
