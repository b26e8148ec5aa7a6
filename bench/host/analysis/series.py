"""Finds changes in series of runs: of each cell the runs that are comparable, and what changed with its level."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.record import OK

from ..statistics.level_changes import LevelChange, level_changes
from ..statistics.location import FloatArray
from ..statistics.verdict import Verdict, adjust_for_discovery, decide, discovery_p
from ..storage.run_summary import CellSummary, RunFacts, RunSummary
from .fairness import GROUNDS, Difference
from .medians import median
from .results import NOT_RUN
from .summaries import is_disturbed, with_disturbed_baselines

#: Facts about the machine that make another series of it; the others, such as a driver, are named where one changed.
MACHINE = ("processor", "processor_version", "processors", "architecture", "gpus")


@dataclass(frozen=True)
class CellSeries:
    """The runs of one cell that are comparable, the oldest first."""

    cell: CellSummary
    #: Places of the runs in the history.
    runs: tuple[int, ...]
    #: Logarithms of seconds per step, or of its ratio to the baseline.
    logs: FloatArray


@dataclass(frozen=True)
class SeriesChange:
    """A change of level in the series of a cell."""

    series: CellSeries
    change: LevelChange
    #: None where one of the two levels has too few runs for a verdict.
    verdict: Verdict | None
    #: What else changed between the last run that is certainly before it and the first one certainly after.
    causes: tuple[Difference, ...]
    #: Whether no other certain change of the series follows. A few odd nights must not hide a slowdown from a gate.
    newest: bool

    @property
    def is_possible(self) -> bool:
        """Tell whether there are too few runs for a verdict, and the interval excludes equality."""
        estimate = self.change.ratio.estimate
        return (
            self.verdict is None
            and estimate.low is not None
            and estimate.high is not None
            and (estimate.low > 1.0 or estimate.high < 1.0)
        )


@dataclass(frozen=True)
class RunSeries:
    """The runs of a history and the series of their cells."""

    runs: tuple[RunFacts, ...]
    series: tuple[CellSeries, ...]
    #: Every cell of any run, chosen or not.
    cells: tuple[CellSummary, ...]
    #: Times of chosen cells that are left out: other programs disturbed them.
    disturbed: int
    #: Chosen cells that have a series, and that failed in the newest run: a release may make them too slow to end.
    failed: tuple[CellSummary, ...] = ()


def collect(
    summaries: Iterable[RunSummary], chosen: Callable[[CellSummary], bool], *, relative: bool = False
) -> RunSeries:
    """Group the cells of all runs into series: what computes the same, in the same way, on the same machine.

    A run in which a cell was disturbed or has no time is left out of its series.
    """
    kept: dict[Hashable, tuple[CellSummary, list[int], list[float]]] = {}
    known: dict[tuple[str, str, int], tuple[CellSummary, bool]] = {}
    runs: list[RunFacts] = []
    disturbed = 0
    failed: list[CellSummary] = []
    settings: list[str] = []
    work: list[str] = []
    for summary in summaries:
        facts, place, failed = summary.facts, len(runs), []
        runs.append(facts)
        run = _run_context(facts, relative)
        over_disturbed = with_disturbed_baselines(summary) if relative else frozenset()
        # Most runs of a history have the tables of the run before.
        if not place or facts.settings != runs[place - 1].settings:
            settings = [_text({name: one[name] for name in GROUNDS if name in one}) for one in facts.settings]
        if not place or facts.work != runs[place - 1].work:
            work = [_text(one) for one in facts.work]
        for cell in summary.cells:
            own = cell.column, cell.row, cell.threads
            if own not in known:
                known[own] = cell, chosen(cell)
            values = cell.log_ratios if relative else cell.step_s
            if not known[own][1]:
                continue
            if not values or cell.status != OK:
                failed += [cell] if cell.status != NOT_RUN else []
                continue
            if is_disturbed(cell) or own in over_disturbed:
                disturbed += 1
                continue
            key = own, run, _at(settings, cell.settings), _at(work, cell.work), relative and cell.base
            found = kept.get(key)
            if found is None:
                found = kept[key] = (cell, [], [])
            found[1].append(place)
            middle = median(values)
            assert middle is not None
            found[2].append(middle if relative else math.log(middle))
    series = tuple(CellSeries(cell, tuple(places), np.array(logs)) for cell, places, logs in kept.values())
    measured = {one.cell.key for one in series}
    lost = tuple(cell for cell in failed if cell.key in measured)
    return RunSeries(tuple(runs), series, tuple(cell for cell, _ in known.values()), disturbed, lost)


def _run_context(facts: RunFacts, relative: bool) -> str:
    machine = {name: facts.machine.get(name) for name in MACHINE}
    return _text([machine, facts.seed, facts.workers, facts.baseline if relative else None])


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _at(values: Sequence[str], place: int) -> str:
    return values[place] if place < len(values) else ""


def find_changes(history: RunSeries) -> list[SeriesChange]:
    """Find the changes in all series, the newest first; their p values are adjusted together."""
    by_length: dict[int, list[CellSeries]] = {}
    for series in history.series:
        by_length.setdefault(len(series.runs), []).append(series)
    found: list[tuple[CellSeries, LevelChange]] = []
    for group in by_length.values():
        for series, changes in zip(group, level_changes(np.array([one.logs for one in group])), strict=True):
            found += [(series, change) for change in changes]
    adjusted = adjust_for_discovery(np.array([discovery_p(change.ratio) for _, change in found])).tolist()
    verdicts = [decide(change.ratio, p) for (_, change), p in zip(found, adjusted, strict=True)]
    # The changes of a series come in their order.
    newest = {
        (series.cell.key, series.runs): change
        for (series, change), verdict in zip(found, verdicts, strict=True)
        if verdict is Verdict.DIFFERENT
    }
    judged = [
        SeriesChange(series, change, verdict, _causes(history.runs, series, change), change is last)
        for (series, change), verdict in zip(found, verdicts, strict=True)
        for last in [newest.get((series.cell.key, series.runs))]
    ]
    shown = [one for one in judged if one.verdict is Verdict.DIFFERENT or one.is_possible]
    return sorted(shown, key=lambda one: (-one.series.runs[one.change.at], -abs(_log(one))))


def _log(one: SeriesChange) -> float:
    return math.log(one.change.ratio.estimate.value)


def _causes(runs: Sequence[RunFacts], series: CellSeries, change: LevelChange) -> tuple[Difference, ...]:
    """Name the code, versions and facts that differ between the runs around a change, as far as they may explain it."""
    before, after = (runs[series.runs[place]] for place in (change.first - 1, change.last))
    environment, workload = series.cell.environment, series.cell.workload
    mine, theirs = before.program_of(series.cell), after.program_of(series.cell)
    code = ((f"code of {workload}", mine, theirs),) if mine and theirs and mine != theirs else ()
    packages = differing(before.environments.get(environment, {}), after.environments.get(environment, {}))
    return (
        *code,
        *((f"{environment}: {name}", mine, theirs) for name, mine, theirs in packages),
        *((f"machine: {name}", mine, theirs) for name, mine, theirs in differing(before.machine, after.machine)),
    )


def differing(before: Mapping[str, object], after: Mapping[str, object]) -> list[Difference]:
    """List what differs between the facts of two runs, with both values as texts."""
    return [
        (name, str(before.get(name) or "none"), str(after.get(name) or "none"))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
