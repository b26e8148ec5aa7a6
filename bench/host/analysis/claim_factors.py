"""Measures by what factor one cell is better than another, in the quantity that a claim is about."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.cell import Cell

from ..statistics.bootstrap import Estimate
from ..statistics.location import FloatArray
from ..statistics.pairs import estimate_ratios, pair_log_ratios
from ..statistics.unpaired import compare_unpaired
from ..study.claim import FIRST_CALL, GRAPHS, MEMORY, STEP, WARM_START
from .comparisons import Pairs, Reached
from .process_values import Values, first_calls, peaks, values_of
from .results import Result

#: {key of a process: the logarithm of what it measured}
Logs = Mapping[Hashable, float]


@dataclass(frozen=True, eq=False)
class RowFactor:
    """By what factor a cell is better than another one: twice as good is half of the time or of the memory."""

    cell: Cell
    other: Cell
    #: ``n`` counts pairs of processes; where none took turns, the processes of the side that has fewer.
    factor: Estimate
    #: The keys and the log factors of the pairs; None where processes are not paired.
    pairs: Pairs | None
    #: The logarithms of both sides, the cell's first, where they are not paired.
    sides: tuple[FloatArray, FloatArray] | None
    #: Whether it is a count, which does not vary by chance.
    counted: bool = False

    def p_of(self, limit: float, reached: Reached) -> float:
        """Return the p value of "the log factor is ``limit``"; 1 where there are too few processes for one."""
        if self.counted:
            return 0.0
        if self.pairs is not None:
            keys, logs = self.pairs
            found = reached.compare_pairs(keys, logs - limit, shown=self.factor)
        else:
            assert self.sides is not None
            mine, theirs = self.sides
            found = compare_unpaired(theirs - limit, mine)
        return 1.0 if found is None or found.deciding is None else found.p

    def least_p(self, reached: Reached) -> float:
        """Return the smallest p value that so many pairs can give; 0 where processes are not paired."""
        if self.counted or self.pairs is None:
            return 0.0
        keys, logs = self.pairs
        found = reached.compare_pairs(keys, np.ones(len(logs)), shown=self.factor)
        return 1.0 if found is None else found.p


def factors(pairs: Sequence[tuple[Result, Result]], quantity: str) -> list[RowFactor]:
    """Return the factor of each pair of results that has one; a result may be paired with itself."""
    made = [found for cell, other in pairs if (found := _factor(cell, other, quantity)) is not None]
    # All at once, as those with equally few pairs are computed together.
    paired = [one.pairs[1] for one in made if one.pairs is not None]
    estimates = iter(estimate_ratios(paired))
    return [one if one.pairs is None else _estimated(one, next(estimates)) for one in made]


def _estimated(one: RowFactor, estimate: Estimate) -> RowFactor:
    """Add the estimate; a count that is the same in every pair has no interval."""
    return replace(one, factor=replace(estimate, low=None, high=None) if one.counted else estimate)


def _factor(cell: Result, other: Result, quantity: str) -> RowFactor | None:
    if quantity == WARM_START:
        warm, cold = (_logs(first_calls(cell, cache)) for cache in ("warm", "cold"))
        return _unpaired(cell, other, warm, cold)
    if quantity == STEP and cell.cell.row == other.cell.row:
        keys, logs = pair_log_ratios(cell.turns, other.turns)
        return _paired(cell, other, (keys, -logs))
    values: dict[str, Callable[[Result], Logs]] = {
        STEP: _steps,
        FIRST_CALL: lambda result: _logs(first_calls(result, "cold")),
        MEMORY: lambda result: _logs(peaks(result)),
        GRAPHS: lambda result: _logs(values_of(result.records, lambda one: one.compilation.get("graphs"))),
    }
    mine, theirs = values[quantity](cell), values[quantity](other)
    if cell.cell.row != other.cell.row and quantity != GRAPHS:
        return _unpaired(cell, other, mine, theirs)
    common = sorted(set(mine) & set(theirs), key=repr)
    found = _paired(cell, other, (common, np.array([theirs[key] - mine[key] for key in common])))
    same = found is not None and found.pairs is not None and len(set(found.pairs[1].tolist())) == 1
    return found if found is None or quantity != GRAPHS else replace(found, counted=same)


def _paired(cell: Result, other: Result, pairs: Pairs) -> RowFactor | None:
    if not len(pairs[1]):
        return None
    return RowFactor(cell.cell, other.cell, Estimate(1.0, None, None, len(pairs[1])), pairs, None)


def _unpaired(cell: Result, other: Result, mine: Logs, theirs: Logs) -> RowFactor | None:
    sides = np.array(list(mine.values())), np.array(list(theirs.values()))
    found = compare_unpaired(sides[1], sides[0])
    return None if found is None else RowFactor(cell.cell, other.cell, found.estimate, None, sides)


def _steps(result: Result) -> Logs:
    return {one.key: math.log(place.median) for one, place in zip(result.timed, result.locations, strict=True)}


def _logs(values: Values) -> Logs:
    return {key: math.log(value) for key, value in values.items()}
