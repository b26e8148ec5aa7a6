"""Compares what the libraries of linear algebra that frameworks bring reach on this processor, on one thread.

    nox -s benchmarks -- products [SIDE [TURNS]]

A product of two square float32 matrices. MKL chooses its code by the maker of the processor, so PyTorch is measured
in two more ways: with ``MKL_DEBUG_CPU_TYPE=5``, which makes MKL before 2020.1 use AVX2 on processors that are not
Intel's, and in torch1-mkl and torch2-mkl, which replace MKL's check. Each turn is a new process of every environment.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from tabulate import tabulate

from bench.host.study import study_file

from ._environments import ROOT, answer, interpreter_of, own_variables_of, variables_of

PROGRAM = Path(__file__).resolve().parent / "_product.py"
AVX2 = "MKL_DEBUG_CPU_TYPE"
COLUMNS = (
    ("torch1", ""), ("torch1", "5"), ("torch1-mkl", ""),
    ("torch2", ""), ("torch2", "5"), ("torch2-mkl", ""), ("tf2", ""), ("jax", ""),
)  # fmt: skip
SIDE, TURNS, PRODUCTS = 768, 9, 30
TIMEOUT_S = 300


def gflops(environment: str, framework: str, side: int, debug_type: str) -> float:
    """Return the speed of the median product of one process."""
    command = interpreter_of(environment)
    own = {**own_variables_of(environment), **({AVX2: debug_type} if debug_type else {})}
    made = variables_of(command, framework, own=own)
    product_s = float(answer([*command, str(PROGRAM), framework, str(side), str(PRODUCTS)], made, TIMEOUT_S))
    return 2 * side**3 / product_s / 1e9


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="nox -s benchmarks -- products", description=__doc__.splitlines()[0])
    parser.add_argument("side", type=int, nargs="?", default=SIDE, help="rows of a matrix; %(default)s by default")
    parser.add_argument("turns", type=int, nargs="?", default=TURNS, help="processes of each; %(default)s by default")
    chosen = parser.parse_args(arguments)
    study = study_file.load(ROOT / "matrix.toml")
    speeds: dict[tuple[str, str], list[float]] = {column: [] for column in COLUMNS}
    for turn in range(chosen.turns):
        # Every other turn in the opposite order.
        for column in COLUMNS[:: -1 if turn % 2 else 1]:
            environment, debug_type = column
            framework = str(study.environments[environment].framework)
            speeds[column].append(gflops(environment, framework, chosen.side, debug_type))
        print(f"turn {turn + 1} of {chosen.turns}", file=sys.stderr, flush=True)
    rows = []
    for (environment, debug_type), seen in speeds.items():
        variable = f"{AVX2}={debug_type}" if debug_type else ""
        rows.append([environment, variable, *(f"{of(seen):.0f}" for of in (statistics.median, min, max))])
    print(tabulate(rows, ["environment", "variable", "GFLOP/s", "least", "most"], "github", disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
