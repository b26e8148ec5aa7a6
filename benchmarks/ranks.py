"""Simulates columns that are equally fast on average: how often a ranking says that one of them is not the fastest.

    nox -s benchmarks -- ranks [rankings]

Each row is a workload, in which columns differ by chance with a standard deviation of 15 %; over all possible workloads
none is faster than another one. A range of ranks that leaves out the first place is wrong. Limits are exact, at 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable

import numpy as np
from tabulate import tabulate

from bench.host.statistics.ranking import rank
from bench.host.statistics.rates import rate

COLUMNS, ROWS = (2, 4, 8, 12), (3, 7, 20)
#: Standard deviations of the logarithms of times: between rows, and between processes.
APART, NOISE, PROCESSES = 0.15, 0.01, 3
RANKINGS, SEED = 400, 20261129


def left_out(columns: int, rows: int, rankings: int) -> tuple[str, str]:
    """Return how often a given column is left out of the first place, and how often any is."""
    random = np.random.default_rng((SEED, columns, rows))
    given = any_ = 0
    for _ in range(rankings):
        times = random.normal(0.0, APART, (columns, rows, 1)) + random.normal(0.0, NOISE, (columns, rows, PROCESSES))
        results: dict[str, dict[str, dict[Hashable, float]]] = {
            f"c{column}": {f"r{row}": dict(enumerate(own)) for row, own in enumerate(of_column)}
            for column, of_column in enumerate(times.tolist())
        }
        ranking = rank(results, "c0")
        assert ranking is not None
        excluded = [one.best_rank > 1 for one in ranking.standings.values()]
        # All columns are alike, so the share of them is the chance of one.
        given, any_ = given + sum(excluded), any_ + any(excluded)
    found = rate(any_, rankings)
    return f"{given / (columns * rankings):.1%}", f"{any_ / rankings:.0%} [{found.low:.0%}, {found.high:.0%}]"


def main(arguments: list[str]) -> int:
    rankings = int(arguments[0]) if arguments else RANKINGS
    rows = [[columns, count, *left_out(columns, count, rankings)] for columns in COLUMNS for count in ROWS]
    headers = ("equal columns", "rows", "one is left out", "any is left out")
    print(f"{rankings} rankings each\n\n{tabulate(rows, headers, tablefmt='github', disable_numparse=True)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
