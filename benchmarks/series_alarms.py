"""Simulates histories of nightly runs: how often ``series`` finds changes where there are none, and finds planted ones.

    nox -s benchmarks -- series_alarms [years]

A year has 365 nights of 50 cells, which are independent of each other. Noise differs from night to night, with heavy
tails or a few slow nights; or it lasts for days, as of a machine that drifts: then neighbouring nights are correlated.
The gate is ``slower:5%``, as in the example of nightly runs, and is looked at every fifth night. Limits are exact, at
95 %.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

from bench.host.analysis.series import CellSeries, RunSeries, SeriesChange, find_changes
from bench.host.analysis.series_gate import judge
from bench.host.statistics.rates import rate
from bench.host.statistics.verdict import Verdict
from bench.host.storage.run_summary import CellSummary, RunFacts

FloatArray = npt.NDArray[np.float64]

CELLS, NIGHTS, LIMIT = 50, 365, 0.05
#: Nights between two looks, the first look, and the nights before a planted change.
EVERY, FIRST, BEFORE = 5, 10, 60
YEARS, SEED = 4, 20261129
#: Name, standard deviation, correlation of neighbouring nights, degrees of freedom, and the share of nights that are
#: 8 % slower, as on another host.
KINDS = (
    ("independent, 2 %", 0.02, 0.0, math.inf, 0.0),
    ("independent, 5 %", 0.05, 0.0, math.inf, 0.0),
    ("2 %, t with 3 degrees of freedom", 0.02, 0.0, 3.0, 0.0),
    ("5 %, t with 3 degrees of freedom", 0.05, 0.0, 3.0, 0.0),
    ("2 %, one night in ten 8 % slower", 0.02, 0.0, math.inf, 0.1),
    ("2 %, nights correlated by 0.3", 0.02, 0.3, math.inf, 0.0),
    ("2 %, by 0.5", 0.02, 0.5, math.inf, 0.0),
    ("2 %, by 0.7", 0.02, 0.7, math.inf, 0.0),
    ("2 %, by 0.9", 0.02, 0.9, math.inf, 0.0),
    ("5 %, by 0.3", 0.05, 0.3, math.inf, 0.0),
    ("5 %, by 0.5", 0.05, 0.5, math.inf, 0.0),
)


def draw(random: np.random.Generator, nights: int, kind: tuple[str, float, float, float, float]) -> FloatArray:
    """Draw the logarithms of the times of every cell, a night in each column."""
    _, deviation, own, tails, slow = kind
    shape = (CELLS, nights)
    noise = random.standard_t(tails, shape) if tails < math.inf else random.normal(size=shape)
    noise *= math.sqrt(1.0 - 2.0 / tails)
    for night in range(1, nights if own else 0):
        noise[:, night] = own * noise[:, night - 1] + math.sqrt(1.0 - own**2) * noise[:, night]
    return np.asarray(deviation * noise + 0.08 * (random.random(shape) < slow))


def history_of(logs: FloatArray) -> RunSeries:
    """Make the history that has these times."""
    nights = logs.shape[1]
    cells = tuple(CellSummary(column="a:eager", row=f"w{i}/small/float32/cpu", threads=1) for i in range(len(logs)))
    runs = tuple(RunFacts(run=f"{number:04d}") for number in range(nights))
    series = (CellSeries(cell, tuple(range(nights)), own) for cell, own in zip(cells, logs, strict=True))
    return RunSeries(runs, tuple(series), cells, 0)


def certain(history: RunSeries) -> list[SeriesChange]:
    return [one for one in find_changes(history) if one.verdict is Verdict.DIFFERENT]


def limits(count: int, of: int) -> str:
    found = rate(count, of)
    return f"{count / of:.1%} [{found.low:.1%}, {found.high:.1%}]" if of else "–"


def quiet(random: np.random.Generator, kind: tuple[str, float, float, float, float], years: int) -> list[str]:
    """Watch years in which nothing changes: cells with a certain change, cells that fail the gate, nights that fail."""
    changed = failed = red = looks = 0
    for _ in range(years):
        logs = draw(random, NIGHTS, kind)
        seen: tuple[set[str], set[str]] = (set(), set())
        for nights in range(FIRST, NIGHTS + 1, EVERY):
            history = history_of(logs[:, :nights])
            found = certain(history)
            slower = judge(history, found, LIMIT, ()).slower
            looks, red = looks + 1, red + bool(slower)
            for names, changes in zip(seen, (found, slower), strict=True):
                names.update(one.series.cell.row for one in changes)
        changed, failed = changed + len(seen[0]), failed + len(seen[1])
    return [limits(changed, years * CELLS), limits(failed, years * CELLS), f"{red / looks:.0%}"]


def planted(random: np.random.Generator, kind: tuple[str, float, float, float, float], size: float, after: int) -> str:
    """Plant a slowdown in every cell, and look so many nights after: found, size and time within their intervals."""
    found = size_held = time_held = 0
    nights = BEFORE + after
    # Each in a history whose other cells do not change: many changes at once would help each other.
    for logs in draw(random, nights, kind):
        logs[BEFORE:] += math.log1p(size)
        history = history_of(np.vstack([logs, draw(random, nights, kind)[1:]]))
        own = [one.change for one in certain(history) if one.series is history.series[0]]
        changes = [change for change in own if abs(change.at - BEFORE) <= after]
        if changes:
            estimate = changes[-1].ratio.estimate
            found += 1
            size_held += (estimate.low or 0.0) <= 1.0 + size <= (estimate.high or math.inf)
            time_held += changes[-1].first <= BEFORE <= changes[-1].last
    return f"{found}, {size_held}, {time_held} of {CELLS}"


def main(arguments: list[str]) -> int:
    years = int(arguments[0]) if arguments else YEARS
    rows = []
    for number, kind in enumerate(KINDS):
        random = np.random.default_rng((SEED, number))
        rows.append([kind[0], *quiet(random, kind, years), *(planted(random, kind, size, 10) for size in (0.05, 0.1))])
        print(kind[0], file=sys.stderr, flush=True)
    headers = ("noise", "cells with a certain change in a year", f"cells slower by {LIMIT:.0%}", "nights that fail",
               "5 % slower for 10 nights: found, size held, time held", "10 %")  # fmt: skip
    print(f"{years} years of {CELLS} cells each\n")
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
