"""Measures whether our median of a kernel agrees with the times of other tools, on a quiet machine.

    nox -s benchmarks -- agreement [--repeats N] [--as-they-come]

All tools time the same NumPy step on the same processor, repeatedly and in random order. To compare only the timers,
every process of a peer gets a random memory layout, as workers do before each turn. Without it (--as-they-come) its
arrays always lie at the same places, which changes the time of a step by percents. Our time is the median over the
processes of a comparison of the kernel with itself. Every repeat gives one pair for the ratio.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from tabulate import tabulate

from bench.host.machine.processors import chosen
from bench.host.statistics.pairs import estimate_ratio

from . import _peers

KERNELS = (("gemm", "tiny"), ("elementwise-chain", "tiny"), ("layernorm-softmax", "tiny"))
GOAL = 0.03


def time_ourselves(python: str) -> _peers.Tool:
    """Return a function that measures our median seconds of a step."""
    measure = _peers.ours(python)

    def once(workload: str, size: str, number: int) -> float:
        pairs = measure(workload, size, number).pairs
        return float(np.median([np.median(pair.cell_ns) for pair in pairs])) / 1e9

    return once


def measure(tools: dict[str, _peers.Tool], workload: str, size: str, repeats: int) -> dict[str, list[float]]:
    """Return the seconds of each tool, one per repeat."""
    seconds: dict[str, list[float]] = {name: [] for name in tools}
    for name, step_s, _ in _peers.repeat(tools, workload, size, repeats):
        seconds[name].append(step_s)
    return seconds


def summarise(seconds: dict[str, list[float]]) -> list[list[str]]:
    """Return the table's row of each tool."""
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
    parser.add_argument("--as-they-come", action="store_true", help="do not randomise the peers' memory layouts")
    parser.add_argument("--kernel", choices=[workload for workload, _ in KERNELS], help="only this one")
    options = parser.parse_args(arguments)
    peers = _peers.prepare(chosen(1)[0], scattered=not options.as_they_come)
    tools: dict[str, _peers.Tool] = {"benchmatrix": time_ourselves(peers.python)}
    for name, once in peers.all.items():
        tools[name] = lambda workload, size, number, once=once: once(workload, size)
    rows = []
    for workload, size in KERNELS:
        if options.kernel not in (None, workload):
            continue
        rows += [[f"{workload}/{size}", *row] for row in summarise(measure(tools, workload, size, options.repeats))]
    headers = ["kernel", "tool", "median / µs", "range / µs", "our difference, 95 % interval"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))
    print(f"\n{options.repeats} repeats each. Goal: within {GOAL:.0%} of torch.utils.benchmark and pyperf.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
