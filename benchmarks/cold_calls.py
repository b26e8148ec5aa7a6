"""Measures what a call of a mode costs after other data has passed through the processor's caches.

    nox -s benchmarks -- cold_calls [CALLS]

The step of gemm/check, a product of 16 x 16 matrices, is next to no work. Before a call the program writes 0 to 8 MiB,
as a product of larger matrices does, so that the instructions and the data of the call come from further away. Medians
of CPU time on one thread, in one process for each mode.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

from tabulate import tabulate

from bench.host.study import study_file

from ._environments import ROOT, answer, interpreter_of, variables_of

PROGRAM = Path(__file__).resolve().parent / "_cold_call.py"
MODES = {"torch1": ("eager", "torchscript"), "torch2": ("eager", "compile"), "jax": ("jit",)}
CALLS = 1000
TIMEOUT_S = 300


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="nox -s benchmarks -- cold_calls", description=__doc__.splitlines()[0])
    parser.add_argument("calls", type=int, nargs="?", default=CALLS, help="calls of each; %(default)s by default")
    calls = str(parser.parse_args(arguments).calls)
    study = study_file.load(ROOT / "matrix.toml")
    rows, written = [], []
    for environment, modes in MODES.items():
        command = interpreter_of(environment)
        framework = str(study.environments[environment].framework)
        for mode in modes:
            made = variables_of(command, framework)
            seconds = json.loads(answer([*command, str(PROGRAM), framework, mode, calls], made, TIMEOUT_S))
            written = [f"{mib} MiB / µs" for mib in seconds]
            rows.append([environment, mode, *(f"{statistics.median(each) * 1e6:.0f}" for each in seconds.values())])
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    print(tabulate(rows, ["environment", "mode", *written], "github", disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
