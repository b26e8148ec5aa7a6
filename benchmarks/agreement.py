"""Measures whether our median of a kernel agrees with what other tools say of the same kernel, on a quiet machine.

    nox -s benchmarks -- agreement [--repeats N]

Every tool times the same NumPy step on the same processor, in turn, several times; the medians over the repeats are
compared. Ours is the median over the processes of a comparison of the kernel with itself.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable

import numpy as np
from rich.console import Console
from tabulate import tabulate

from bench.cell import Cell
from bench.host import matrix
from bench.host.environments import Prepared
from bench.host.processors import chosen
from bench.host.validation.session import NUMPY, Validation
from bench.host.validation.trial import Trial
from bench.record import OK

from . import _peers

KERNELS = (("gemm", "tiny"), ("elementwise-chain", "tiny"), ("layernorm-softmax", "tiny"))
GOAL = 0.03


def time_ourselves(python: str) -> Callable[[str, str], float]:
    """Return a function that gives our median seconds of a step."""
    study = matrix.load(_peers.ROOT / "matrix.toml")
    session = Validation(_peers.ROOT, study, {}, 1, Console(quiet=True), numpy=Prepared("numpy", OK, command=(python,)))

    def once(workload: str, size: str) -> float:
        cell = Cell("numpy", NUMPY.framework, "eager", workload, size, "float32", "cpu", 1)
        trace = session.bench.measure(Trial(0, cell, 0.0))
        return float(np.median([np.median(pair.cell_ns) for pair in trace.pairs])) / 1e9

    return once


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="agreement")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    peers = _peers.prepare(chosen(1)[0])
    tools: dict[str, Callable[[str, str], float]] = {"benchmatrix": time_ourselves(peers.python), **peers.all}
    rows = []
    for workload, size in KERNELS:
        seconds: dict[str, list[float]] = {name: [] for name in tools}
        for number in range(options.repeats):
            order = list(tools)
            random.Random(number).shuffle(order)
            for name in order:
                seconds[name].append(tools[name](workload, size))
            print(f"{workload}/{size}: {number + 1} of {options.repeats}", file=sys.stderr, flush=True)
        medians = {name: float(np.median(found)) for name, found in seconds.items()}
        for name, found in seconds.items():
            spread = f"{min(found) * 1e6:.2f} to {max(found) * 1e6:.2f}"
            ratio = f"{medians['benchmatrix'] / medians[name] - 1:+.1%}"
            rows.append([f"{workload}/{size}", name, f"{medians[name] * 1e6:.2f}", spread, ratio])
    headers = ["kernel", "tool", "median / µs", "from … to / µs", "ours against it"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))
    print(f"\n{options.repeats} times each, in turn. Goal: within {GOAL:.0%} of torch.utils.benchmark and pyperf.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
