"""Measures the efficiency of our tool and its peers: their precision per second on a noisy machine.

    nox -s benchmarks -- efficiency [--repeats N] [--quiet-machine]

All tools compare a kernel with itself, repeatedly and in random order. The standard deviation of a tool's log ratios is
its standard error (SE); its efficiency is 1 / (SE² · seconds), so half the error is worth as much as a quarter of the
time. As a single bad comparison can dominate a standard deviation, the table also has the normalised median absolute
deviation. The peers run with their defaults, once for each side, bound to the same processor. A process that computes
in bursts makes the noise, unless --quiet-machine is given.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from tabulate import tabulate

from bench.host.machine.processors import chosen
from bench.host.statistics.location import NORMAL_MAD
from bench.host.validation.summary import judge

from . import _peers

KERNELS = (("gemm", "tiny"), ("elementwise-chain", "tiny"))
GOAL = 10.0
#: {tool: (log ratios, seconds)}
Found = dict[str, tuple[list[float], list[float]]]
#: A program that alternately computes for 0.05 to 1 s and sleeps for 0.2 to 3 s, on any processor.
NOISE = """
import random, time
seeded = random.Random(1)
while True:
    until = time.perf_counter() + seeded.uniform(0.05, 1.0)
    while time.perf_counter() < until:
        sum(range(1000))
    time.sleep(seeded.uniform(0.2, 3.0))
"""


@contextlib.contextmanager
def noise(wanted: bool) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", NOISE]) if wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def compare_ourselves(python: str) -> _peers.Tool:
    """Return a function that compares a kernel with itself as a study does and returns the log ratio."""
    measure = _peers.ours(python)

    def compare(workload: str, size: str, number: int) -> float:
        verdict = judge(measure(workload, size, number))
        if verdict.ratio is None:
            raise RuntimeError(f"{workload}/{size}: {verdict.data.reason}")
        return math.log(verdict.ratio.estimate.value)

    return compare


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="efficiency")
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--quiet-machine", action="store_true", help="do not start the noisy process")
    options = parser.parse_args(arguments)
    peers = _peers.prepare(chosen(1)[0])
    tools: dict[str, _peers.Tool] = {"benchmatrix": compare_ourselves(peers.python)}
    for name, once in peers.all.items():
        tools[name] = lambda workload, size, number, once=once: math.log(once(workload, size) / once(workload, size))
    rows = []
    with noise(not options.quiet_machine):
        for workload, size in KERNELS:
            found = measure(tools, workload, size, options.repeats)
            rows += [[f"{workload}/{size}", *row] for row in summarise(found)]
    headers = ["kernel", "tool", "s per comparison", "SE", "efficiency", "ours is … times",
               "robust SE", "efficiency", "ours is … times"]  # fmt: skip
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))
    print(f"\n{options.repeats} comparisons of each kernel with itself by each tool. Goal: {GOAL:g} times.")
    return 0


def robust_sd(logs: list[float]) -> float:
    """Return the median absolute log ratio (the true one is 0), scaled to the standard deviation of a normal."""
    return NORMAL_MAD * float(np.median(np.abs(logs)))


def summarise(found: Found) -> list[list[str]]:
    """Return the table's row of each tool."""
    rows = [[name, f"{np.mean(spent):.1f}"] for name, (_, spent) in found.items()]
    for spread in (lambda logs: float(np.std(logs, ddof=1)), robust_sd):
        errors = {name: spread(logs) for name, (logs, _) in found.items()}
        efficiency = {name: 1.0 / (errors[name] ** 2 * np.mean(spent)) for name, (_, spent) in found.items()}
        for row in rows:
            times = efficiency["benchmatrix"] / efficiency[row[0]]
            row += [f"{errors[row[0]]:.2%}", f"{efficiency[row[0]]:.3g}", f"{times:.3g}"]
    return rows


def measure(tools: dict[str, _peers.Tool], workload: str, size: str, repeats: int) -> Found:
    """Return the log ratios of each tool and the seconds that each comparison took."""
    found: Found = {name: ([], []) for name in tools}
    for name, log_ratio, elapsed_s in _peers.repeat(tools, workload, size, repeats):
        found[name][0].append(log_ratio)
        found[name][1].append(elapsed_s)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
