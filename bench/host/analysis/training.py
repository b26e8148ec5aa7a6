"""Compares trainings to a result: their accuracies, losses and times over seeds, and how far parameters are apart."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.cell import Cell
from bench.record import OK

from ..statistics.bootstrap import Estimate
from ..statistics.location import FloatArray
from ..statistics.means import estimate_mean
from ..statistics.signed_rank import exact_interval, signed_rank_p
from ..statistics.verdict import ALPHA, adjust_for_claims, minimum_pairs
from ..storage.manifest_schema import FrameworkNames
from ..storage.training_records import Trained, TrainingFacts
from .versions import names_of

#: Accuracies that are closer than this are equivalent: a percentage point.
EQUIVALENT_WITHIN = 0.01


class Agreement(enum.Enum):
    """What the pairs of seeds say about the accuracies of a row."""

    EQUAL = "equal"
    FEW = "few"
    DIFFERENT = "different"
    EQUIVALENT = "equivalent"
    OPEN = "open"


@dataclass(frozen=True)
class TrainedCell:
    """What a cell gives over the seeds, each value at the end of the last epoch."""

    cell: Cell
    #: Whether it is the baseline with initial weights that were changed in the last bit.
    nudged: bool
    #: The trainings that succeeded, in the order of the seeds.
    runs: tuple[Trained, ...]
    #: A training that ended badly; None where all succeeded.
    failed: Trained | None
    #: What its framework is called.
    names: FrameworkNames
    accuracy: Estimate | None = None
    cross_entropy: Estimate | None = None
    squared_error: Estimate | None = None
    train_s: Estimate | None = None
    start_s: Estimate | None = None
    #: Mean seconds of training until an evaluation reached the target, over the seeds that reached it.
    target_s: Estimate | None = None
    #: Mean difference of its accuracy to the baseline's with the same seed.
    difference: Estimate | None = None
    #: The largest difference of accuracy to the baseline in a seed, in either direction.
    largest_difference: float | None = None
    #: How far its parameters are from the baseline's after the first epoch, over what that epoch changed: the median
    #: over the seeds, and the largest. Another set-up shows in every seed; rounding that decides a near-tie of a ReLU
    #: or of a maximum the other way, in some seed.
    apart: float | None = None
    largest_apart: float | None = None


@dataclass(frozen=True)
class TrainedRow:
    """The cells of one row, the baseline with changed weights last."""

    row: str
    baseline: Cell
    cells: tuple[TrainedCell, ...]
    agreement: Agreement | None
    #: Seeds that every compared cell has.
    pairs: int
    #: The columns whose accuracy differs, where some do.
    different: tuple[str, ...]

    @property
    def compared(self) -> list[TrainedCell]:
        return [one for one in self.cells if one.cell != self.baseline and one.largest_difference is not None]

    @property
    def nudged(self) -> TrainedCell | None:
        return next((one for one in self.cells if one.nudged and one.runs), None)


def analyse(facts: TrainingFacts, trained: Sequence[Trained]) -> list[TrainedRow]:
    """Group trainings by row, and estimate and compare the cells of each."""
    rows: dict[str, dict[tuple[Cell, bool], list[Trained]]] = {}
    for one in trained:
        cell = one.coordinate
        rows.setdefault(cell.row, {}).setdefault((cell, one.nudged), []).append(one)
    return [_row(row, groups, facts) for row, groups in rows.items()]


def _row(row: str, groups: Mapping[tuple[Cell, bool], list[Trained]], facts: TrainingFacts) -> TrainedRow:
    cells = [cell for cell, nudged in groups if not nudged]
    baseline = next((cell for cell in cells if cell.column == facts.baseline), cells[0])
    reference = _well(groups[baseline, False])
    ordered = sorted(groups, key=lambda key: key[1])
    made = tuple(_cell(key, groups[key], reference, facts, is_baseline=key == (baseline, False)) for key in ordered)
    compared = [one for one in made if not one.nudged and one.cell != baseline and one.largest_difference is not None]
    differences = {one.cell.column: _differences(one.runs, reference, "accuracy") for one in compared}
    agreement, different = judge(differences)
    return TrainedRow(row, baseline, made, agreement, min(map(len, differences.values()), default=0), different)


def judge(differences: Mapping[str, FloatArray]) -> tuple[Agreement | None, tuple[str, ...]]:
    """Say what the paired differences of accuracy of each column mean, and which columns differ.

    Different: the exact signed-rank test over pairs, adjusted for the number of columns (Holm). Equivalent: its
    interval lies within ``EQUIVALENT_WITHIN`` for every column. Without pairs enough for the test there is no verdict,
    unless all pairs are equal, which is a fact and not an inference.
    """
    if not differences:
        return None, ()
    if all((values == 0).all() for values in differences.values()):
        return Agreement.EQUAL, ()
    if min(map(len, differences.values())) < minimum_pairs():
        return Agreement.FEW, ()
    p = adjust_for_claims(np.array([signed_rank_p(values) for values in differences.values()]))
    different = tuple(column for column, one in zip(differences, p.tolist(), strict=True) if one <= ALPHA)
    if different:
        return Agreement.DIFFERENT, different
    intervals = [exact_interval(values, 1.0 - ALPHA) for values in differences.values()]
    within = all(one is not None and max(abs(one[0]), abs(one[1])) < EQUIVALENT_WITHIN for one in intervals)
    return (Agreement.EQUIVALENT if within else Agreement.OPEN), ()


def _well(trained: Sequence[Trained]) -> tuple[Trained, ...]:
    return tuple(sorted((one for one in trained if one.status == OK and one.epochs), key=lambda one: one.seed))


def _cell(
    key: tuple[Cell, bool],
    trained: Sequence[Trained],
    reference: Sequence[Trained],
    facts: TrainingFacts,
    *,
    is_baseline: bool,
) -> TrainedCell:
    runs = _well(trained)
    failed = next((one for one in trained if one.status != OK), None)
    names = names_of(key[0].framework, facts.frameworks)
    if not runs:
        return TrainedCell(*key, runs, failed, names)
    differences = np.array([]) if is_baseline else _differences(runs, reference, "accuracy")
    pairs = [] if is_baseline else _pairs(runs, reference)
    distances = [value for a, b in pairs if (value := distance(a, b)) is not None]
    reached = [seconds for one in runs if (seconds := seconds_to(one, facts.target)) is not None]
    return TrainedCell(
        *key,
        runs,
        failed,
        names,
        accuracy=_last(runs, "accuracy"),
        cross_entropy=_last(runs, "cross_entropy"),
        squared_error=_last(runs, "squared_error"),
        train_s=estimate_mean(np.array([one.train_s for one in runs])),
        start_s=estimate_mean(np.array([one.start_s for one in runs])),
        target_s=estimate_mean(np.array(reached)) if reached else None,
        difference=estimate_mean(differences) if len(differences) else None,
        largest_difference=float(np.abs(differences).max()) if len(differences) else None,
        apart=float(np.median(distances)) if distances else None,
        largest_apart=max(distances, default=None),
    )


def _last(runs: Sequence[Trained], name: str) -> Estimate:
    return estimate_mean(np.array([getattr(one.epochs[-1], name) for one in runs]))


def seconds_to(trained: Trained, target: float | None) -> float | None:
    """Return the seconds of training until an evaluation gave the accuracy ``target``; None where none did."""
    if target is None:
        return None
    passed = 0
    for epoch in trained.epochs:
        passed += epoch.train_ns
        if epoch.accuracy >= target:
            return passed / 1e9
    return None


def _pairs(runs: Sequence[Trained], reference: Sequence[Trained]) -> list[tuple[Trained, Trained]]:
    others = {one.seed: one for one in reference}
    return [(one, others[one.seed]) for one in runs if one.seed in others]


def _differences(runs: Sequence[Trained], reference: Sequence[Trained], name: str) -> FloatArray:
    found = [getattr(a.epochs[-1], name) - getattr(b.epochs[-1], name) for a, b in _pairs(runs, reference)]
    # Shares of the same number of examples: what is left of equal ones is rounding.
    return np.asarray([round(difference, 12) for difference in found], dtype=np.float64)


def distance(one: Trained, other: Trained) -> float | None:
    """Return the 2-norm of the difference of two trainings' parameters after an epoch, over that of the ``other``'s.

    Both are estimated from projections: see ``bench.worker.checking.projection``. None where they have not the same.
    """
    if not other.update or {k: len(v) for k, v in one.update.items()} != {k: len(v) for k, v in other.update.items()}:
        return None
    changed = math.fsum(value**2 for values in other.update.values() for value in values)
    apart = math.fsum(
        (a - b) ** 2 for name, values in other.update.items() for a, b in zip(one.update[name], values, strict=True)
    )
    return math.sqrt(apart / changed) if changed else None
