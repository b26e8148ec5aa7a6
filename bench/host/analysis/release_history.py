"""Compares every version of a framework with the version before it and with a baseline, in the turns that they shared.

All comparisons of one quantity in a report are one family: their p values are adjusted together by Holm's procedure,
so that the chance of a single false verdict *slower* or *faster* among them is at most 1 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.cell import Cell
from bench.record import Record

from ..statistics import stopping
from ..statistics.bootstrap import Estimate
from ..statistics.pairs import Ratio
from ..statistics.verdict import ALPHA, minimum_pairs
from ..storage.manifest import Manifest
from .comparisons import Reached
from .fairness import refusal
from .process_values import Values, first_calls, peaks
from .release_break_even import break_even
from .release_values import Quantity, disk_bytes, estimated, imports, paired
from .release_verdicts import Course, Point, Step, distinct, judged, steps_of
from .releases import Line, Members, Release, baseline, before, environments_of, lines_of
from .run_analysis import Analysis, analyse, every_cell


@dataclass(frozen=True)
class History:
    """Everything that is reported of the versions."""

    analysis: Analysis
    courses: tuple[Course, ...]
    #: {environment: (family, version)}
    environments: Mapping[str, tuple[str, str]]
    #: Comparisons of each quantity that were adjusted together.
    comparisons: Mapping[Quantity, int]
    #: The share of the error probability that the last look may spend.
    last_share: float
    #: {environment: seconds of its import in each round}
    imports: Mapping[str, Values]

    def break_even(self, release: Release, step: Step | None, cache: str) -> Estimate | None:
        """Return the steps after which a version leads another one, with a ``cold`` or ``warm`` compilation cache."""
        return None if step is None else break_even(release, step, cache, self.imports)

    def of(self, quantity: Quantity) -> list[Course]:
        return [course for course in self.courses if course.quantity is quantity]

    @property
    def most_pairs(self) -> int:
        """Return the pairs of the comparison of steps that has most."""
        return max((step.ratio.estimate.n for step in steps_of(self.of(Quantity.STEP))), default=0)

    @property
    def needed_rounds(self) -> int:
        """Return the fewest rounds with which a comparison of steps could be significant."""
        return self._rounds_for(self.last_share)

    @property
    def fixed_rounds(self) -> int:
        """Return the same for a profile with a fixed number of rounds."""
        return self._rounds_for(1.0)

    def _rounds_for(self, share: float) -> int:
        return minimum_pairs(ALPHA / max(1, self.comparisons.get(Quantity.STEP, 0)), share)


def analyse_history(
    records: Iterable[Record],
    manifest: Manifest,
    members: Members,
    *,
    against: str | None = None,
    shown: Callable[[Cell], bool] = every_cell,
) -> History:
    """Compare the versions of a run; ``against`` names the baseline, the oldest where it is None.

    Only cells that are ``shown`` are compared. The noise floor is the run's, also where its twin is not one of them.
    """
    analysis = analyse(records, manifest, shown)
    lines = lines_of(analysis.results, members)
    every = [*lines, *_of_environments(lines)]
    reached = Reached.of_each(analysis.results, manifest)
    courses: list[Course] = []
    for quantity in Quantity:
        own = every[len(lines) :] if quantity.of_environment else every[: len(lines)]
        found = [_course(quantity, line, reached[line.cell.row], analysis, manifest, against) for line in own]
        # A line without a time still says why.
        kept = [c for c in found if quantity is Quantity.STEP or any(point.value for point in c.points)]
        courses += judged(kept, analysis.noise.fraction if quantity is Quantity.STEP else 0.0)
    compared = {quantity: len(distinct(c for c in courses if c.quantity is quantity)) for quantity in Quantity}
    share = float(stopping.weights(manifest.looks)[-1]) if manifest.looks else 1.0
    imported = {
        environment: values
        for line in every[len(lines) :]
        for environment, values in _values(Quantity.IMPORT, line, analysis, manifest).items()
    }
    return History(analysis, tuple(courses), environments_of(lines), compared, share, imported)


def _of_environments(lines: Sequence[Line]) -> list[Line]:
    """Return a line for each family, in which each environment has its result with the most records."""
    found: dict[str, dict[str, Release]] = {}
    for line in lines:
        for release in line.releases:
            best = found.setdefault(line.family, {}).setdefault(release.environment, release)
            if len(release.result.records) > len(best.result.records):
                found[line.family][release.environment] = release
    order = list(environments_of(lines))
    return [
        Line(family, tuple(sorted(releases.values(), key=lambda one: order.index(one.environment))))
        for family, releases in found.items()
    ]


def _course(
    quantity: Quantity, line: Line, reached: Reached, analysis: Analysis, manifest: Manifest, wanted: str | None
) -> Course:
    """Compare the versions of a line, without verdicts."""
    values = _values(quantity, line, analysis, manifest)
    # What other programs computed changes times, and nothing else.
    known = [one for one in line.releases if (one.usable if quantity.is_time else values[one.environment])]
    base = baseline(wanted, known)
    points = []
    for release in line.releases:
        steps = [
            None
            if other is None or (manifest.strict and refusal(release.result, other.result))
            else _compare(quantity, release, other, values, reached)
            for other in (before(release, known), base if base is not release else None)
        ]
        value = _value(quantity, release, values[release.environment])
        points.append(Point(release, value, *(steps if release in known else ())))
    return Course(quantity, line, base, tuple(points))


def _values(quantity: Quantity, line: Line, analysis: Analysis, manifest: Manifest) -> dict[str, Values]:
    """Return {environment: values of its processes}; those of steps are in the results."""
    found: dict[str, Values] = {}
    imported: dict[str, dict[bool, Values]] = {}
    for release in line.releases:
        name, result = release.environment, release.result
        size = disk_bytes(manifest.environments.get(name)) if quantity is Quantity.DISK else None
        found[name] = {} if size is None else {(0, 0): size}
        if quantity in (Quantity.COLD_CALL, Quantity.WARM_CALL):
            found[name] = first_calls(result, "cold" if quantity is Quantity.COLD_CALL else "warm")
        elif quantity is Quantity.MEMORY:
            found[name] = peaks(result)
        elif quantity is Quantity.IMPORT:
            imported[name] = imports(one for one in analysis.results if one.cell.environment == name)
    # Only imports of one kind are comparable: alone, or beside others.
    kinds = [set(each) for each in imported.values() if each]
    if kinds:
        alone = min(set.intersection(*kinds) or set.union(*kinds))
        found = {name: each.get(alone, {}) for name, each in imported.items()}
    return found


def _value(quantity: Quantity, release: Release, values: Values) -> Estimate | None:
    if quantity is Quantity.STEP:
        return release.result.step if release.usable else None
    if quantity is Quantity.DISK:
        return next((Estimate(value, None, None, 1) for value in values.values()), None)
    return estimated(values)


def _compare(
    quantity: Quantity, release: Release, other: Release, values: Mapping[str, Values], reached: Reached
) -> Step | None:
    if quantity is Quantity.STEP:
        ratio = reached.compare(release.result, other.result)
    else:
        keys, log_ratios = paired(values[release.environment], values[other.environment])
        ratio = reached.compare_pairs(keys, log_ratios)
        if quantity is Quantity.DISK and keys:
            ratio = Ratio(Estimate(float(np.exp(log_ratios[0])), None, None, 1), 1.0, None)
    return None if ratio is None else Step(other, ratio)
