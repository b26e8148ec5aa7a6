"""Makes the table that a run ends with where nothing can be compared: the time per step of every cell."""

from __future__ import annotations

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
from .speedups import LINES, WORDS
from .table import Column, Entry, Group, Table


def summarise(analysis: Analysis, manifest: Manifest) -> Table:
    """Make the table with a row per workload and a column per environment and mode."""
    results = [result for result in analysis.results if result.status not in (EXCLUDED, NOT_RUN)]
    labels, usual, grades = labels_of(results), usual_facets(results), {one.cell: one.quality for one in results}
    columns = in_order(columns_of(results), labels)
    rows = []
    for row in rows_of(results).values():
        places = {result.cell.column: result for result in row}
        entries = (_entry(places.get(column), grades) for column in columns)
        rows.append((Entry(row_name(row[0].cell, usual)), *entries))
    conditions = shared_facets(results) if results else ""
    lines = [
        *answer.alarm(manifest),
        *filter(None, [remark_on(baseline_not_in_run(results, manifest))]),
        *answer.legend(grades),
        *answer.failures(results),
    ]
    headings = (
        Column(labels[column].heading, dispensable=number, name=labels[column].short, group=labels[column].release)
        for number, column in enumerate(columns, start=1)
    )
    return Table(
        f"{manifest.study.name}-overview",
        _("Times"),
        _("Time per step ({conditions})", conditions=conditions) if conditions else _("Nothing was measured"),
        (Column(_("workload"), "left"), *headings),
        (Group(Entry(""), ("",) * (len(columns) + 1), tuple(rows)),) if rows else (),
        tuple(first_words(line, WORDS) for line in lines[:LINES]),
        banner=answer.banner(grades, manifest),
    )


def _entry(result: Result | None, grades: Grades) -> Entry:
    if result is None:
        return Entry("")
    grade: Quality | None = grades[result.cell]
    if result.step is None or grade is None:
        return Entry(status_word(result.status))
    return Entry(f"{' '.join(time_digits(result.step.value))}{MARKS[grade]}" if grade.usable else WITHHELD)
