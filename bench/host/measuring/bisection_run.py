"""Bisects releases: prepares and measures what the statistics ask for, then attributes the change."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.cell import Cell
from bench.record import OK

from ..counts import counted
from ..environments import Prepared
from ..environments.components import Component, components, exchanged, is_exchanged
from ..environments.index_releases import NOTHING
from ..statistics import bisection
from ..statistics.attribution import Part, judge_exchange
from ..statistics.bisection import Change, Measure, NoChange, Undecided
from ..statistics.location import FloatArray
from ..study.environment import Environment
from .pair_measurement import BudgetSpent, PairMeasurement

TOGETHER = "the other packages of this release do not install with it"

#: Prepares an environment, or says why it cannot be.
Prepare = Callable[[Environment], Prepared]
#: Removes environments that are not needed; the names are those that are.
Prune = Callable[[Sequence[str]], None]


@dataclass(frozen=True)
class Exchanged:
    """One component beside the framework that changed with a release."""

    component: Component
    #: None where it cannot be exchanged alone…
    part: Part | None
    #: …for this reason.
    reason: str = ""


@dataclass(frozen=True)
class Bisected:
    """What a bisection found."""

    #: The environments of the releases that could be measured, in order.
    releases: tuple[str, ...]
    #: None where the budget was spent before the two ends showed whether there is a change.
    end: Change | NoChange | Undecided | None
    #: {environment: why it could not be measured}
    unavailable: Mapping[str, str]
    #: {(environment, the one that it was compared with): log ratios}
    pairs: Mapping[tuple[str, str], FloatArray]
    parts: tuple[Exchanged, ...] = ()
    #: Whether the budget was spent before the end.
    is_cut: bool = False


@dataclass
class BisectionRun:
    """A bisection under way."""

    measurement: PairMeasurement
    #: The cell of each release, the oldest first.
    cells: Sequence[Cell]
    prepare: Prepare
    prune: Prune
    announce: Callable[[str], None]
    faster: bool = False
    #: Seconds for measuring, without those of builds; None for no limit.
    budget_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    pairs: dict[tuple[str, str], FloatArray] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    prepared: dict[str, Prepared] = field(default_factory=dict)

    def bisect(self) -> Bisected:
        """Find the first release with the change; every step is stored, so the same call continues it."""
        spent = False
        while True:
            cells = [cell for cell in self.cells if cell.environment not in self.unavailable]
            names = [cell.environment for cell in cells]
            if len(names) < 2:
                return Bisected(tuple(names), Undecided(0, 0), self.unavailable, self.pairs)
            step = bisection.next_step(len(names), self._pairs_of(names), faster=self.faster)
            if not isinstance(step, Measure):
                return Bisected(tuple(names), step, self.unavailable, self.pairs)
            if spent:
                end = bisection.bracket_so_far(len(names), self._pairs_of(names), faster=self.faster)
                return Bisected(tuple(names), end, self.unavailable, self.pairs, is_cut=True)
            try:
                self._measure(cells[step.release], cells[step.reference], step.pairs)
            except BudgetSpent:
                # The last pairs may have been enough.
                spent = True

    def _pairs_of(self, names: Sequence[str]) -> bisection.Pairs:
        """Return the pairs of these releases by their places."""
        places = {name: place for place, name in enumerate(names)}
        return {
            (places[one], places[other]): values
            for (one, other), values in self.pairs.items()
            if one in places and other in places
        }

    def attribute(self, found: Bisected) -> Bisected:
        """Exchange what else changed with the release, one component after the other, as far as the budget reaches."""
        if not isinstance(found.end, Change):
            return found
        by_name = {cell.environment: cell for cell in self.cells}
        after, before = (by_name[found.releases[place]] for place in (found.end.release, found.end.release - 1))
        manifests = [self._ready(cell) for cell in (before, after)]
        if any(one is None for one in manifests):
            return found
        facts = self.measurement.study.registry.facts(after.framework)
        size = math.log(found.end.ratio.estimate.value)
        mine, theirs = (one.manifest for one in manifests if one is not None)
        parts: list[Exchanged] = []
        try:
            for component in components(mine, theirs, facts):
                parts.append(self._exchange(component, before, after, size))
        except BudgetSpent:
            return replace(found, parts=tuple(parts), is_cut=True)
        return replace(found, parts=tuple(parts))

    def _exchange(self, component: Component, before: Cell, after: Cell, size: float) -> Exchanged:
        environments = self.measurement.study.environments
        packages = self.prepared[after.environment].manifest.get("packages") or {}
        made = exchanged(environments[after.environment], environments[before.environment], component, packages)
        if isinstance(made, str):
            return Exchanged(component, None, made)
        self._verify_budget()
        self.announce(f"Exchanging {component} in {after.environment}")
        study = self.measurement.study
        self.measurement = replace(
            self.measurement, study=study.model_copy(update={"environments": {**environments, made.name: made}})
        )
        cell = replace(after, environment=made.name)
        ready = self._ready(cell)
        if ready is None:
            reason = self.unavailable[made.name]
            return Exchanged(component, None, TOGETHER if NOTHING.search(reason) else reason)
        if not is_exchanged(ready.manifest, component):
            return Exchanged(component, None, TOGETHER)
        key = made.name, before.environment
        while isinstance(more := judge_exchange(self.pairs.get(key, self._stored(cell, before)), size), int):
            self._measure(cell, before, more)
            for name in key:
                if name in self.unavailable:
                    return Exchanged(component, None, self.unavailable[name])
        return Exchanged(component, more)

    def _measure(self, cell: Cell, reference: Cell, more: int) -> None:
        """Take what is stored of a pair first; otherwise measure, and note a release that cannot be measured.

        Raises BudgetSpent, before an environment is built for what would not be measured.
        """
        key = cell.environment, reference.environment
        if key not in self.pairs and len(stored := self._stored(cell, reference)):
            self.pairs[key] = stored
            return
        self._verify_budget()
        # The first release is the reference of most pairs.
        self.prune([*key, self.cells[0].environment])
        ready = {one.environment: self._ready(one) for one in (reference, cell)}
        if any(one is None for one in ready.values()):
            return
        self.announce(f"{cell.environment} against {reference.environment}: {counted(more, 'round')}")
        prepared = {name: one for name, one in ready.items() if one is not None}
        before = len(self.pairs.get(key, ()))
        began = self.clock()
        try:
            self.pairs[key], failed = self.measurement.measure(cell, reference, prepared, more, budget_s=self.budget_s)
        except BudgetSpent as spent:
            if spent.ratios is not None:
                self.pairs[key] = spent.ratios
            raise
        finally:
            if self.budget_s is not None:
                self.budget_s -= self.clock() - began
        if len(self.pairs[key]) == before:
            self.unavailable.update(failed or {cell.environment: "its processes took no turns with the others"})

    def _verify_budget(self) -> None:
        """Raise BudgetSpent where no time is left for measuring."""
        if self.budget_s is not None and self.budget_s <= 0.0:
            raise BudgetSpent

    def _stored(self, cell: Cell, reference: Cell) -> FloatArray:
        environments = self.measurement.study.environments
        for one in (cell, reference):
            # What such an interpreter has installed decides whether stored pairs are of the same.
            if environments[one.environment].provider == "existing" and one.environment not in self.prepared:
                self._ready(one)
        return self.measurement.stored(cell, reference, self.prepared)

    def _ready(self, cell: Cell) -> Prepared | None:
        name = cell.environment
        if name in self.unavailable:
            return None
        ready = self.prepare(self.measurement.study.environments[name])
        if ready.status != OK:
            self.unavailable[name] = f"{ready.status}: {ready.reason}"
            return None
        self.prepared[name] = ready
        return ready
