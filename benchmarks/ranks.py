"""Simulates rankings whose right order is known: how often their ranges of ranks are wrong, and how often they decide.

    nox -s benchmarks -- ranks [rankings]

- Equal columns. Each row is a workload, in which columns differ by chance with a standard deviation of 15 %; over all
  possible workloads none is faster than another one. A range of ranks that leaves out the first place is wrong.
- A leader among such columns. A ranking should give it the first place alone.
- Rows of committed runs, drawn at random, in which each column's times are divided by its mean ratio over all rows. So
  the columns are equal over these rows, but rows differ as they do in reality: few of them by large factors. An
  interval of a mean ratio should contain 1.

Limits are exact, at 95 %.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

from bench.host.analysis.comparable_times import log_locations
from bench.host.analysis.ranking import choose_entrants
from bench.host.analysis.results import by_track, columns_of
from bench.host.analysis.run_analysis import analyse
from bench.host.statistics import ranking
from bench.host.statistics.rates import rate
from bench.host.storage import run_records

COLUMNS, ROWS = (2, 4, 8, 12), (3, 7, 20)
LEADS = (1.25, 1.5, 2.0)
DRAWN = (3, 7, 20, 40)
#: Standard deviations of the logarithms of times: between rows, and between processes.
APART, NOISE, PROCESSES = 0.15, 0.01, 3
RANKINGS, SEED = 400, 20261129
REFERENCE = Path(__file__).resolve().parents[1] / "reports" / "reference"
#: Runs with more than 40 rows that all ranked columns have.
RUNS = ("workloads", "workloads-amd", "workloads-mkl-on-amd", "full-amd")

BoolArray = npt.NDArray[np.bool_]
#: Makes the results of one ranking.
Draw = Callable[[np.random.Generator], ranking.Results]


def simulated(columns: int, rows: int, lead: float = 1.0) -> Draw:
    """Return how to draw columns that are equally fast on average, but for the first, which is faster by ``lead``."""

    def draw(random: np.random.Generator) -> ranking.Results:
        times = random.normal(0.0, APART, (columns, rows, 1)) + random.normal(0.0, NOISE, (columns, rows, PROCESSES))
        times[0] -= math.log(lead)
        return {
            f"c{column}": {f"r{row}": dict(enumerate(own)) for row, own in enumerate(of_column)}
            for column, of_column in enumerate(times.tolist())
        }

    return draw


def drawn_from(run: str, rows: int) -> tuple[Draw, int]:
    """Return how to draw rows of a committed run, whose columns are equal over all of them, and how many those are."""
    described = run_records.describe(REFERENCE / run)
    assert described is not None
    results = max(
        by_track(analyse(run_records.read(REFERENCE / run, described, []), described).results).values(), key=len
    )
    by_column = {column: {r.cell.row: r for r in results if r.cell.column == column} for column in columns_of(results)}
    baseline = str(described.study.baseline)
    times = log_locations({column: by_column[column] for column in choose_entrants(by_column, baseline)})
    found = ranking.rank(times, baseline)
    assert found is not None
    means = {column: math.log(one.ratio.value) for column, one in found.standings.items()}

    def draw(random: np.random.Generator) -> ranking.Results:
        drawn = random.choice(found.support, size=rows)
        return {
            column: {
                f"r{i}": {key: log - means[column] for key, log in own[row].items()} for i, row in enumerate(drawn)
            }
            for column, own in times.items()
        }

    return draw, len(means)


def watch(draw: Draw, rankings: int, seed: tuple[int, int]) -> tuple[BoolArray, BoolArray]:
    """Return which columns a ranking leaves out of the first place: a line per ranking, a column per column.

    The second array tells for every column but the first whether the interval of its mean ratio to it contains 1.
    """
    random = np.random.default_rng((SEED, *seed))
    out, held = [], []
    for _ in range(rankings):
        results = draw(random)
        base, *others = results
        found = ranking.rank(results, base)
        assert found is not None
        out.append([found.standings[column].best_rank > 1 for column in results])
        ratios = [found.standings[column].ratio for column in others]
        held.append([(one.low or 0.0) <= 1.0 <= (one.high or math.inf) for one in ratios])
    return np.array(out), np.array(held)


def left_out(out: BoolArray) -> tuple[str, str]:
    """Say how often a column is left out of the first place, and how often any is."""
    # All columns are alike, so the share of them is the chance of one.
    return f"{out.mean():.1%}", share(out.any(axis=1))


def share(happened: BoolArray) -> str:
    found = rate(int(happened.sum()), len(happened))
    return f"{happened.mean():.0%} [{found.low:.0%}, {found.high:.0%}]"


def main(arguments: list[str]) -> int:
    rankings = int(arguments[0]) if arguments else RANKINGS
    counts = [(columns, rows) for columns in COLUMNS for rows in ROWS]
    equal = [[*one, *left_out(watch(simulated(*one), rankings, one)[0])] for one in counts]
    print(f"{rankings} rankings each\n")
    show(equal, ("equal columns", "rows", "one is left out", "any is left out"))
    leading = []
    for columns, rows in counts:
        outs = [watch(simulated(columns, rows, lead), rankings, (columns, rows))[0] for lead in LEADS]
        leading.append([columns, rows, *(share(~out[:, 0] & out[:, 1:].all(axis=1)) for out in outs)])
    show(leading, ("columns", "rows", *(f"one is {lead:g} times as fast: leads alone" for lead in LEADS)))
    real = []
    for run in RUNS:
        for rows in DRAWN:
            draw, columns = drawn_from(run, rows)
            out, held = watch(draw, rankings, (columns, rows))
            real.append([run, columns, rows, *left_out(out), f"{held.mean():.0%}"])
    show(real, ("rows of", "equal columns", "rows", "one is left out", "any is left out", "intervals of means hold"))
    return 0


def show(rows: list[list[object]], headers: tuple[str, ...]) -> None:
    print(f"{tabulate(rows, headers, tablefmt='github', disable_numparse=True)}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
