"""Compares two runs cell by cell: what changed between them, what cannot be compared and why, and the ratios.

The processes of two runs did not take turns, so their ratios are unpaired: see ``statistics.unpaired``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.record import OK

from ..statistics.location import FloatArray
from ..statistics.pairs import Ratio
from ..statistics.unpaired import compare_unpaired
from ..statistics.verdict import THRESHOLD, Verdict, adjust_for_discovery, decide, discovery_p
from ..storage.run_summary import CellSummary, RunSummary
from .fairness import GROUNDS, Difference, unequal
from .run_changes import changes, is_unchanged
from .summaries import is_disturbed, with_disturbed_baselines

#: Settings that describe the machine, whose difference is named once.
OF_MACHINE = ("processors", "processor instruction set")
#: Fewer cells in unchanged environments show nothing about the difference between two runs.
FEWEST_CONTROLS = 3

Chosen = Callable[[CellSummary], bool]


@dataclass(frozen=True)
class CellChange:
    """The time of a cell in the second run over its time in the first one."""

    before: CellSummary
    after: CellSummary
    ratio: Ratio
    #: None where there are too few processes for one.
    verdict: Verdict | None
    #: Whether its environment and its settings are the same in both runs.
    unchanged: bool


@dataclass(frozen=True)
class Uncompared:
    """A cell without a ratio, and why."""

    name: str
    why: str
    #: Whether it was measured in the first run and could not be measured in the second one.
    lost: bool


@dataclass(frozen=True)
class RunComparison:
    """Two runs, compared."""

    before: RunSummary
    after: RunSummary
    #: What is not the same: (what, in the first run, in the second run).
    changed: tuple[Difference, ...]
    #: The cells with a ratio: those that became slower or faster first, and the largest change first.
    cells: tuple[CellChange, ...]
    uncompared: tuple[Uncompared, ...]
    #: Lowest, middle and highest ratio of the cells whose environments did not change; None where there are too few.
    controls: tuple[float, float, float] | None
    #: Whether ratios to the baseline are compared.
    relative: bool

    @property
    def moved(self) -> float | None:
        """The middle of the ratios of times, where a verdict may come from the machine or the day; else None."""
        suspect = any(one.verdict is Verdict.DIFFERENT for one in self.cells) and self.controls is None
        if self.relative or not suspect or len(self.cells) < FEWEST_CONTROLS:
            return None
        return float(np.median([one.ratio.estimate.value for one in self.cells]))


def compare_runs(
    before: RunSummary, after: RunSummary, chosen: Chosen, *, relative: bool = False, any_settings: bool = False
) -> RunComparison:
    """Compare the chosen cells of two runs.

    ``relative`` compares the ratios to the baseline, of pairs that took turns in their own run: what changed for all
    cells alike cancels. ``any_settings`` gives a ratio, too, where settings differ that a user could have made equal.
    """
    disturbed = (with_disturbed_baselines(before), with_disturbed_baselines(after)) if relative else ()
    first = {cell.key: cell for cell in before.cells if chosen(cell)}
    second = {cell.key: cell for cell in after.cells if chosen(cell)}
    found, uncompared = [], []
    for key in dict.fromkeys([*first, *second]):
        pair = first.get(key), second.get(key)
        cell = pair[0] or pair[1]
        assert cell is not None
        if relative and before.facts.baseline == after.facts.baseline == cell.column:
            continue
        why = _obstacle(before, after, pair, any_settings=any_settings)
        why = why or (_other_baseline(before, after, pair) if relative else "")
        if not why and any(key in keys for keys in disturbed):
            why = "other programs disturbed what its ratio is to"
        ratio = None if why or pair[0] is None or pair[1] is None else _ratio(pair[0], pair[1], relative)
        if ratio is None or pair[0] is None or pair[1] is None:
            lost = pair[0] is not None and pair[0].status == OK and (pair[1] is None or pair[1].status != OK)
            why = why or "no processes took turns with those of the baseline"
            uncompared.append(Uncompared(cell.name, why, lost))
            continue
        found.append((pair[0], pair[1], ratio, is_unchanged(before, after, pair[0], pair[1])))
    controls = _controls([ratio for _, _, ratio, unchanged in found if unchanged])
    return RunComparison(
        before, after, tuple(changes(before, after)), _judge(found, controls), tuple(uncompared), controls, relative
    )


def _judge(
    found: Sequence[tuple[CellSummary, CellSummary, Ratio, bool]], controls: tuple[float, float, float] | None
) -> tuple[CellChange, ...]:
    """Give verdicts; the p values of all cells are adjusted together.

    A change smaller than that of cells in unchanged environments is not called different: both runs have it. Where that
    is beyond what equivalence allows, a change may have cancelled it, so nothing is called equivalent either.
    """
    floor = 0.0 if controls is None else math.expm1(max(abs(math.log(end)) for end in controls))
    floors = [0.0 if unchanged else floor for *_, unchanged in found]
    own = [discovery_p(ratio, floor=least) for (_, _, ratio, _), least in zip(found, floors, strict=True)]
    adjusted = adjust_for_discovery(np.array(own)).tolist()
    judged = [
        CellChange(first, second, ratio, _verdict(ratio, p, least), unchanged)
        for (first, second, ratio, unchanged), p, least in zip(found, adjusted, floors, strict=True)
    ]
    return tuple(sorted(judged, key=_order))


def _verdict(ratio: Ratio, adjusted_p: float, floor: float) -> Verdict | None:
    found = decide(ratio, adjusted_p, floor=floor)
    return Verdict.INCONCLUSIVE if found is Verdict.EQUIVALENT and floor > THRESHOLD else found


def _order(one: CellChange) -> tuple[bool, float]:
    return one.verdict is not Verdict.DIFFERENT, -abs(math.log(one.ratio.estimate.value))


def _ratio(before: CellSummary, after: CellSummary, relative: bool) -> Ratio | None:
    return compare_unpaired(_logs(after, relative), _logs(before, relative))


def _logs(cell: CellSummary, relative: bool) -> FloatArray:
    return np.array(cell.log_ratios) if relative else np.log(np.array(cell.step_s))


def _other_baseline(before: RunSummary, after: RunSummary, pair: tuple[CellSummary | None, CellSummary | None]) -> str:
    """Say to what two ratios are where that is not the same; empty where it is."""
    bases = [cell.base for cell in pair if cell is not None]
    for mine, theirs in ((before.facts.baseline, after.facts.baseline), (bases[0], bases[-1])):
        if mine != theirs:
            return f"its ratio is to another baseline: {mine or 'none'}, {theirs or 'none'}"
    return ""


def _obstacle(
    before: RunSummary, after: RunSummary, pair: tuple[CellSummary | None, CellSummary | None], *, any_settings: bool
) -> str:
    """Say why two cells of one name cannot be compared; empty where they can."""
    first, second = pair
    if first is None or second is None:
        here, there, cell = ("second", after, first) if second is None else ("first", before, second)
        assert cell is not None
        threads = [other.threads for other in there.cells if (other.column, other.row) == (cell.column, cell.row)]
        if threads:
            return f"threads differ: {cell.threads}, and {threads[0]} in the {here} run; measure both with one number"
        return f"not in the {here} run"
    for run, cell in (("first", first), ("second", second)):
        if cell.status != OK or not cell.step_s:
            return f"{run} run: {cell.status}" + (f": {cell.reason}" if cell.reason else "")
        if is_disturbed(cell):
            return f"other programs disturbed it in the {run} run"
    differing = _work(before, after, first, second)
    if not differing and not any_settings:
        names = [name for name in GROUNDS if name not in OF_MACHINE]
        differing = list(unequal(before.facts.settings_of(first), after.facts.settings_of(second), names))
    return "; ".join(f"{name} differs: {mine}, {theirs}" for name, mine, theirs in differing)


def _work(before: RunSummary, after: RunSummary, first: CellSummary, second: CellSummary) -> list[Difference]:
    """Return the differences in what a step computes and reads."""
    mine, theirs = before.facts.work_of(first), after.facts.work_of(second)
    found = [(name, str(mine.get(name)), str(theirs.get(name))) for name in {**mine, **theirs}]
    found.append(("seed of the data", str(before.facts.seed), str(after.facts.seed)))
    return [difference for difference in found if difference[1] != difference[2]]


def _controls(ratios: Sequence[Ratio]) -> tuple[float, float, float] | None:
    if len(ratios) < FEWEST_CONTROLS:
        return None
    values = [ratio.estimate.value for ratio in ratios]
    return min(values), float(np.median(values)), max(values)
