"""Makes the table that a run ends with where nothing can be compared: the time per step of every cell.

Of a trial, whose times mean nothing, it shows which cells agree with float64.
"""

from __future__ import annotations

from bench.record import OK

from ...analysis.quality import Quality
from ...analysis.results import EXCLUDED, NOT_RUN, Result, columns_of
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import baseline_not_in_run
from ...analysis.speed_ups import Grades
from ...storage.manifest import Manifest
from ..words import answer
from ..words.answer import MARKS, WITHHELD
from ..words.caption import remark_on
from ..words.labels import in_order, labels_of
from ..words.language import _
from ..words.row_names import row_name, shared_facets, usual_facets
from ..words.terms import status_word
from ..words.text import first_words
from .rows import rows_of
from .speedup_values import time_digits
from .speedups import LINES
from .table import Column, Entry, Table, ungrouped


def summarise(analysis: Analysis, manifest: Manifest) -> Table:
    """Make the table with a row per workload and a column per environment and mode."""
    results = [result for result in analysis.results if result.status not in (EXCLUDED, NOT_RUN)]
    labels, usual, grades = labels_of(results), usual_facets(results), {one.cell: one.quality for one in results}
    columns = in_order(columns_of(results), labels)
    rows = []
    for row in rows_of(results).values():
        places = {result.cell.column: result for result in row}
        entries = (_entry(places.get(column), grades, trial=manifest.profile.trial) for column in columns)
        rows.append((Entry(row_name(row[0].cell, usual)), *entries))
    conditions = shared_facets(results) if results else ""
    lines = [
        *answer.alarm(manifest),
        *answer.part(manifest),
        *filter(None, [remark_on(baseline_not_in_run(results, manifest))]),
        *([] if manifest.profile.trial else answer.legend(grades)),
        *answer.failures(results),
    ]
    # Where there is no room for all, those stay longest that have a cell without a result.
    bad = {result.cell.column for result in results if result.status != OK}
    places_left = {
        column: number for number, column in enumerate(sorted(columns, key=lambda one: one not in bad), start=1)
    }
    headings = (
        Column(labels[one].heading, dispensable=places_left[one], name=labels[one].short, group=labels[one].release)
        for one in columns
    )
    return Table(
        f"{manifest.study.name}-overview",
        _("Agreement") if manifest.profile.trial else _("Times"),
        _caption(conditions, trial=manifest.profile.trial),
        (Column(_("workload"), "left"), *headings),
        ungrouped(rows, len(columns) + 1) if rows else (),
        tuple(first_words(line) for line in lines[:LINES]),
        banner=answer.banner(grades, manifest),
    )


def _caption(conditions: str, *, trial: bool) -> str:
    if not conditions:
        return _("Nothing was measured")
    if trial:
        return _("Agreement with float64 ({conditions})", conditions=conditions)
    return _("Time per step ({conditions})", conditions=conditions)


def _entry(result: Result | None, grades: Grades, *, trial: bool) -> Entry:
    if result is None:
        return Entry("")
    if trial:
        return Entry(status_word(result.status))
    grade: Quality | None = grades[result.cell]
    if result.step is None or grade is None:
        return Entry(status_word(result.status))
    return Entry(f"{' '.join(time_digits(result.step.value))}{MARKS[grade]}" if grade.usable else WITHHELD)
