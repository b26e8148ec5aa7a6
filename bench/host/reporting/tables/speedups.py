"""Makes the table that a run ends with: the baseline's time per step, and every other column's speed-up over it.

It fits a terminal of 80 columns, has at most one mark per entry and at most six lines below it. Everything else is in
the details, one option away.
"""

from __future__ import annotations

from ...analysis.run_analysis import Analysis
from ...analysis.speed_ups import ComparedCell
from ...storage.manifest import Manifest
from ..words import answer
from ..words.answer import MARKS, VERDICTS, WITHHELD
from ..words.language import _
from ..words.terms import status_word
from ..words.text import EMPTY
from .speedup_values import SpeedUps, factor_digits, mean_digits, speed_ups, time_digits
from .table import Column, Entry, Group, Table

#: A longer line of a heading is broken.
LONG = 8


def summarise(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table; None where nothing was measured, or nothing of the baseline."""
    found = speed_ups(analysis, manifest)
    if found is None:
        return None
    columns, baseline, labels, grades = found.columns, found.baseline, found.labels, found.grades
    names = {place.result.cell: row.name for row in found.rows for place in row.places.values()}
    rows = tuple(
        (Entry(row.name), *(_entry(row.places.get(column), column == baseline) for column in columns))
        for row in found.rows
    )
    return Table(
        f"{manifest.study.name}-speedups",
        _("Speed-ups"),
        _caption(labels[baseline].text, found.conditions, alone=len(columns) == 1),
        (
            Column(_("workload"), "left"),
            *(Column(_narrow(labels[column].heading), dispensable=number) for number, column in enumerate(columns)),
        ),
        (Group(Entry(""), ("",) * (len(columns) + 1), (*rows, *_means(found))),),
        (
            *answer.banner(grades),
            *answer.fastest(found.means, baseline, labels, found.whole_rows),
            *answer.clearest(found.results, baseline, labels, grades, names),
            *answer.legend(grades),
            *answer.verdicts(found.results, grades),
            *answer.failures(found.results),
        ),
    )


def _narrow(heading: str) -> str:
    """Break long words at their hyphens."""
    lines = heading.split("\n")
    return "\n".join(line.replace("-", "-\n") if len(line) > LONG else line for line in lines)


def _caption(baseline: str, conditions: str, *, alone: bool) -> str:
    said = {"baseline": baseline, "conditions": conditions}
    if alone:
        return _("Time per step of {baseline} ({conditions})", **said)
    return _("Time per step of {baseline}; speed-up of the others over it, higher is faster ({conditions})", **said)


def _entry(place: ComparedCell | None, is_baseline: bool) -> Entry:
    if place is None:
        return Entry("")
    if place.grade is None:
        return Entry(status_word(place.result.status))
    if place.withheld:
        return Entry(WITHHELD)
    mark = MARKS[place.grade]
    if is_baseline and place.time is not None:
        return Entry(f"{' '.join(time_digits(place.time.value))}{mark}")
    if place.speed_up is None:
        return Entry(EMPTY)
    return Entry(f"{factor_digits(place.speed_up.value)}{VERDICTS.get(place.result.verdict, '')}{mark}")


def _means(found: SpeedUps) -> list[tuple[Entry, ...]]:
    """Make the row of geometric means."""
    if not found.means:
        return []
    means = (mean_digits(found, column) for column in found.columns)
    return [(Entry(_("geometric mean")), *map(Entry, means))]
