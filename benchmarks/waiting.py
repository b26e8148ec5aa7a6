"""Measures what it is worth to subtract the time that one-thread cells waited for a processor, on a crowded machine.

    nox -s benchmarks -- waiting [--hogs N]

A kernel is compared with itself and with a planted slowdown of 2 % while ``--hogs`` processes compute without a pause.
Both columns come from the very same samples: the spread of a pair's ratio, and the ratio, from the whole time of each
sample and from what is left of it without the waiting.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from rich.console import Console
from tabulate import tabulate

from bench.cell import Cell
from bench.host import journal, matrix
from bench.host.arguments import STUDY_FILE
from bench.host.noise_watch import compared_ns
from bench.host.twin import is_twin
from bench.host.validation.session import Validation
from bench.host.validation.trial import Trial
from bench.record import Record

ROUNDS = 16
KERNELS = (("gemm", "tiny"), ("layernorm-softmax", "tiny"))


@contextlib.contextmanager
def hogs(number: int) -> Iterator[None]:
    made = [subprocess.Popen([sys.executable, "-c", "while True: sum(range(1000))"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in made:
            process.kill()
            process.wait()


def log_ratios(records: list[Record], *, whole: bool) -> np.ndarray:
    """Return the log ratio of each pair: the median over its turns."""
    by_key: dict[tuple[int, int], dict[bool, np.ndarray]] = {}
    for record in records:
        ns = np.array(record.sample_ns, dtype=np.float64) if whole else compared_ns(record)
        by_key.setdefault((record.round, record.attempt), {})[is_twin(record.cell)] = ns / record.sample_steps
    pairs = [pair for pair in by_key.values() if len(pair) == 2]
    return np.array([np.median(np.log(pair[True] / pair[False])) for pair in pairs])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="waiting")
    parser.add_argument("--hogs", type=int, default=4)
    options = parser.parse_args(arguments)
    session = Validation(STUDY_FILE.parent, matrix.load(STUDY_FILE), {}, 1, Console(quiet=True))
    bench = replace(session.bench, looks=(ROUNDS,))
    rows = []
    with hogs(options.hogs):
        for workload, size in KERNELS:
            for planted in (0.0, 0.02):
                cell = Cell("numpy", "numpy", "eager", workload, size, "float32", "cpu", 1)
                bench.measure(Trial(0, cell, planted))
                records = journal.read(bench.folder)
                row = [f"{workload}/{size}", f"{planted:.0%}"]
                for whole in (True, False):
                    found = log_ratios(records, whole=whole)
                    row += [f"{np.std(found, ddof=1):.2%}", f"{np.expm1(np.median(found)):+.2%}"]
                rows.append(row)
    headers = ["kernel", "planted", "whole time: SD of a pair", "median", "less waiting: SD of a pair", "median"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))
    print(f"\n{ROUNDS} pairs of processes each, beside {options.hogs} processes that compute without a pause.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
