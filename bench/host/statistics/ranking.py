"""Ranks columns by geometric means of ratios over the rows that all columns have, with intervals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from .bootstrap import (
    LEVEL,
    MOST_TOGETHER,
    SEED,
    Estimate,
    distinct_resamples,
    sample_and_resamples,
    tail_probability,
    widen_for_few,
)
from .location import FloatArray
from .signed_rank import hodges_lehmann
from .unpaired import LEAST_ERROR
from .verdict import adjust_for_claims

RESAMPLES = 1000

#: The logarithm of a location, such as the median step time, of each process; processes with one key took turns.
LogLocations = Mapping[Hashable, float]
#: column -> row -> processes; a cell that has no result is missing.
Results = Mapping[str, Mapping[str, LogLocations]]


@dataclass(frozen=True)
class Standing:
    """The rank of one column."""

    #: Geometric mean over the support of its time over the baseline's; below 1 is faster. ``n`` counts rows.
    ratio: Estimate
    #: 1 is the fastest.
    rank: int
    #: The ranks that ``certainly_faster`` leaves open; with ``LEVEL`` those of all columns are right together.
    best_rank: int
    worst_rank: int


@dataclass(frozen=True)
class Ranking:
    """The columns in order, fastest first, and the rows behind the order."""

    standings: Mapping[str, Standing]
    #: The rows in which every ranked column has a result; only these count.
    support: tuple[str, ...]
    #: (column, row) of every result that is missing in a row where some ranked column has one.
    missing: tuple[tuple[str, str], ...]
    #: Rows in which every ranked column has a result, but no processes of all of them took turns.
    unpaired: tuple[str, ...]


def common_keys(results: Results, columns: Sequence[str], row: str) -> list[Hashable]:
    """Return the keys that the processes of all columns share in a row; none where a column has no result."""
    sets = [set(results[column].get(row, {})) for column in columns]
    return sorted(set.intersection(*sets), key=repr)


def resampled_log_ratios(values: FloatArray, base: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return each column's log ratio to column ``base`` in one row, and that of resamples of the processes.

    ``values`` has a line per column and a process per entry. A resample takes the same processes of every column, so
    pairs remain pairs. Shapes (columns,) and (columns, resamples).
    """
    n = values.shape[1]
    lines = values - values[base]
    if n <= MOST_TOGETHER:
        once = np.ones((n, 1), dtype=np.int32)
        differing, which = distinct_resamples(n, RESAMPLES, seed)
        return hodges_lehmann(lines, once)[:, 0], hodges_lehmann(lines, differing)[:, which]
    counts = sample_and_resamples(n, RESAMPLES, seed)
    found = np.zeros((len(values), 1 + RESAMPLES))
    for number, line in enumerate(lines):
        if number != base:
            found[number] = hodges_lehmann(line, counts)
    return found[:, 0], found[:, 1:]


def rank(results: Results, baseline: str, *, seed: int = SEED) -> Ranking | None:
    """Rank the columns of ``results``, of which ``baseline`` is one, by the geometric mean of their ratios to it.

    The geometric mean of ratios ranks the same whichever column is the baseline (Fleming & Wallace 1986). Workloads are
    a sample of all possible workloads, and processes a sample of all possible processes. So the bootstrap draws rows,
    and the processes of every row drawn (Kalibera & Jones 2013). The ranges of ranks rest on tests: see
    ``certainly_faster``. None where no row is common to all columns.
    """
    columns = list(results)
    base = columns.index(baseline)
    rows = list(dict.fromkeys(row for column in columns for row in results[column]))
    keys = {row: common_keys(results, columns, row) for row in rows}
    support = tuple(row for row in rows if keys[row])
    missing = tuple((column, row) for row in rows for column in columns if not results[column].get(row))
    incomplete = {row for _, row in missing}
    unpaired = tuple(row for row in rows if not keys[row] and row not in incomplete)
    if not support:
        return None
    estimates = np.empty((len(support), len(columns)))
    resamples = np.empty((len(support), len(columns), RESAMPLES))
    for number, row in enumerate(support):
        values = np.array([[results[column][row][key] for key in keys[row]] for column in columns])
        estimates[number], resamples[number] = resampled_log_ratios(values, base, seed)
    random = np.random.default_rng((seed, len(support)))
    drawn_rows, drawn_processes = (
        random.integers(n, size=(RESAMPLES, len(support))) for n in (len(support), RESAMPLES)
    )
    # Row by row, since all that is drawn takes as much memory as a report of 10,000 cells otherwise does.
    drawn = np.zeros((len(columns), RESAMPLES))
    for number in range(len(support)):
        drawn += resamples[drawn_rows[:, number], :, drawn_processes[:, number]].T
    drawn /= len(support)
    # A single row varies by its processes.
    units = estimates if len(support) > 1 else values.T
    return Ranking(_standings(columns, estimates, drawn, units), support, missing, unpaired)


def _standings(
    columns: Sequence[str], estimates: FloatArray, drawn: FloatArray, units: FloatArray
) -> dict[str, Standing]:
    """Sort the columns by their log ratios in each row, a line of ``estimates``.

    ``units`` has a line for each row or process that the resamples ``drawn`` mostly vary by.
    """
    means, rows = np.mean(estimates, axis=0), len(estimates)
    tail = tail_probability(len(units)) if len(units) > 1 else None
    bounds = None if tail is None else np.exp(np.quantile(drawn, (tail, 1.0 - tail), axis=1)).T.tolist()
    faster = certainly_faster(units)
    ahead, behind = faster.sum(axis=0).tolist(), faster.sum(axis=1).tolist()
    found = {}
    for number in np.argsort(means, kind="stable").tolist():
        low, high = (None, None) if bounds is None else bounds[number]
        estimate = Estimate(float(np.exp(means[number])), low, high, rows)
        if rows > 1:
            estimate = widen_for_few(estimate, estimates[:, number])
        place = 1 + int((means < means[number]).sum())
        # The means of a single row's processes may have another order than its estimates, which are robust.
        best, worst = min(1 + ahead[number], place), max(len(columns) - behind[number], place)
        found[columns[number]] = Standing(estimate, place, best, worst)
    return found


def certainly_faster(units: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which columns are certainly faster on average (a line each) than which others.

    ``units`` has the logarithms of the times of a row or of a process in each line, and a column per column. Student's
    test compares each pair of columns, and Holm's correction covers all pairs: the chance that even one of them is
    wrong is at most 1 - ``LEVEL``. So the ranks that the pairs leave open are right for all columns together (Al
    Mohamad, Goeman & van Zwet 2022). Without the correction, one of eight equal columns was left out of the first
    place in 11 to 15 % of cases. Ranks of resamples are no wider (Hall & Miller 2009). benchmarks/ranks.py simulates
    ranges.
    """
    n, columns = units.shape
    faster = np.zeros((columns, columns), dtype=np.bool_)
    if n < 2 or columns < 2:
        return faster
    first, second = np.triu_indices(columns, 1)
    distances = units[:, first] - units[:, second]
    means = distances.mean(axis=0)
    # Columns that have the same times differ by rounding.
    errors = np.maximum(distances.std(axis=0, ddof=1) / np.sqrt(n), LEAST_ERROR)
    p = 2.0 * special.stdtr(n - 1, -np.abs(means) / errors)
    certain = adjust_for_claims(p) <= 1.0 - LEVEL
    faster[first, second], faster[second, first] = certain & (means < 0.0), certain & (means > 0.0)
    return faster
