"""Measures whether our median of a kernel agrees with what other tools say of the same kernel, on a quiet machine.

    nox -s benchmarks -- agreement [--repeats N] [--as-they-come]

Every tool times the same NumPy step on the same processor, in random order, again and again. What is compared are the
timers, so every process of a peer draws a random memory layout, as our workers do before each turn: left alone
(--as-they-come), its arrays lie in the same places every time, which moves a step by percents. Ours is the median over
the processes of a comparison of the kernel with itself. A ratio is estimated from the repeats, each of which is a pair.
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
from bench.host.environments import Prepared
from bench.host.machine.processors import chosen
from bench.host.statistics.pairs import estimate_ratio
from bench.host.study import study_file
from bench.host.validation.trial import Trial
from bench.host.validation.validation import NUMPY, Validation
from bench.record import OK

from . import _peers

KERNELS = (("gemm", "tiny"), ("elementwise-chain", "tiny"), ("layernorm-softmax", "tiny"))
GOAL = 0.03


def time_ourselves(python: str) -> Callable[[str, str, int], float]:
    """Return a function that gives our median seconds of a step."""
    study = study_file.load(_peers.ROOT / "matrix.toml")
    session = Validation(_peers.ROOT, study, {}, 1, Console(quiet=True), numpy=Prepared("numpy", OK, command=(python,)))

    def once(workload: str, size: str, number: int) -> float:
        cell = Cell("numpy", NUMPY.framework, "eager", workload, size, "float32", "cpu", 1)
        trace = session.bench.measure(Trial(number, cell, 0.0))
        return float(np.median([np.median(pair.cell_ns) for pair in trace.pairs])) / 1e9

    return once


def measure(
    tools: dict[str, Callable[[str, str, int], float]], workload: str, size: str, repeats: int
) -> dict[str, list[float]]:
    """Return the seconds that each tool found, repeat by repeat."""
    seconds: dict[str, list[float]] = {name: [] for name in tools}
    for number in range(repeats):
        order = list(tools)
        random.Random(number).shuffle(order)
        for name in order:
            seconds[name].append(tools[name](workload, size, number))
        print(f"{workload}/{size}: {number + 1} of {repeats}", file=sys.stderr, flush=True)
    return seconds


def summarise(seconds: dict[str, list[float]]) -> list[list[str]]:
    """Make a row of the table for each tool."""
    rows = []
    for name, found in seconds.items():
        row = [name, f"{np.median(found) * 1e6:.2f}", f"{min(found) * 1e6:.2f} to {max(found) * 1e6:.2f}"]
        if name != "benchmatrix":
            ratio = estimate_ratio(np.log(seconds["benchmatrix"]) - np.log(found))
            bounds = (f"{bound - 1:+.1%}" for bound in (ratio.low, ratio.high) if bound is not None)
            row.append(f"{ratio.value - 1:+.1%} [{', '.join(bounds)}]")
        rows.append(row)
    return rows


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="agreement")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--as-they-come", action="store_true", help="leave the peers' memory layouts alone")
    parser.add_argument("--kernel", choices=[workload for workload, _ in KERNELS], help="only this one")
    options = parser.parse_args(arguments)
    peers = _peers.prepare(chosen(1)[0], scattered=not options.as_they_come)
    tools: dict[str, Callable[[str, str, int], float]] = {"benchmatrix": time_ourselves(peers.python)}
    for name, once in peers.all.items():
        tools[name] = lambda workload, size, number, once=once: once(workload, size)
    rows = []
    for workload, size in KERNELS:
        if options.kernel not in (None, workload):
            continue
        rows += [[f"{workload}/{size}", *row] for row in summarise(measure(tools, workload, size, options.repeats))]
    headers = ["kernel", "tool", "median / µs", "from … to / µs", "ours against it, 95 % interval"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))
    print(f"\n{options.repeats} times each, in turn. Goal: within {GOAL:.0%} of torch.utils.benchmark and pyperf.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
