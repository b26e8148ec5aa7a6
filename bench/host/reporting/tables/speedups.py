"""Makes the table that a run ends with: the baseline's time per step, and every other column's speed-up over it.

It fits a terminal of 80 columns, has at most one mark per entry and at most six lines below it. Everything else is in
the details, one option away.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from bench.cell import Cell

from ...analysis.quality import Quality
from ...analysis.results import Result, row_key
from ...analysis.run_analysis import Analysis
from ...statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from ...storage.manifest import Manifest
from ..words.labels import Label
from ..words.language import _
from ..words.numbers import format_interval, format_value, percent
from ..words.row_names import row_name, varying
from ..words.text import EMPTY
from .rows import baseline_of
from .speedup_values import Place, SpeedUps, factor_digits, inverse, speed_ups, time_digits
from .table import Column, Entry, Group, Table

#: One mark for each grade but the best; a disturbed time is not shown at all.
MARKS = {Quality.CLEAN: "", Quality.NOISY: "~", Quality.UNSTEADY: "^", Quality.DISTURBED: ""}
WITHHELD = "-"
#: One mark for each verdict that says something.
VERDICTS: Mapping[Verdict | None, str] = {Verdict.DIFFERENT: "*", Verdict.EQUIVALENT: "≈"}
#: Sentences about single comparisons.
MOST_SENTENCES = 2

Grades = Mapping[Cell, Quality | None]
Labels = Mapping[str, Label]


def summarise(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table; None where nothing was measured, or nothing of the baseline."""
    found = speed_ups(analysis, manifest)
    if found is None:
        return None
    columns, baseline, labels, grades = found.columns, found.baseline, found.labels, found.grades
    rows = tuple(
        (Entry(row.name), *(_entry(row.places.get(column), column == baseline) for column in columns))
        for row in found.rows
    )
    return Table(
        f"{manifest.study.name}-speedups",
        _("Speed-ups"),
        _(
            "Time per step of {baseline}; speed-up of the others over it, higher is faster ({conditions})",
            baseline=labels[baseline].text,
            conditions=found.conditions,
        ),
        (
            Column(_("workload"), "left"),
            *(Column(labels[column].heading, dispensable=number) for number, column in enumerate(columns)),
        ),
        (Group(Entry(""), ("",) * (len(columns) + 1), (*rows, *_means(found))),),
        (
            *_banner(grades),
            *_legend(grades),
            *_verdicts(found.results, grades),
            *_answer(found.results, baseline, labels, grades),
            *_failures(found.results),
        ),
    )


def _entry(place: Place | None, is_baseline: bool) -> Entry:
    if place is None:
        return Entry("")
    if place.grade is None:
        return Entry(place.result.status)
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
    means = ("" if column == found.baseline else factor_digits(found.means[column]) for column in found.columns)
    return [(Entry(_("geometric mean")), *map(Entry, means))]


def _usable(result: Result, grades: Grades) -> bool:
    grade = grades[result.cell]
    return grade is not None and grade.usable


def _banner(grades: Grades) -> list[str]:
    """Say first that the machine was busy, where times are withheld."""
    found = [grade for grade in grades.values() if grade is not None]
    lost = found.count(Quality.DISTURBED)
    if not lost:
        return []
    return [
        _(
            "The machine was busy: {lost} of {count} cells cannot be used ({mark}). "
            "Close other programs and run again.",
            lost=lost,
            count=len(found),
            mark=WITHHELD,
        )
    ]


def _legend(grades: Grades) -> list[str]:
    """Explain the marks that occur, in one line."""
    found = [grade for grade in grades.values() if grade is not None]
    meanings = {
        Quality.NOISY: _("noisy: repeat for a firm value"),
        Quality.UNSTEADY: _("unsteady: samples lie far apart"),
    }
    clauses = [
        _(
            "{mark} {meaning} ({number} of {count} cells)",
            mark=MARKS[grade],
            meaning=meaning,
            number=n,
            count=len(found),
        )
        for grade, meaning in meanings.items()
        if (n := found.count(grade))
    ]
    return ["   ".join(clauses)] if clauses else []


def _verdicts(results: Sequence[Result], grades: Grades) -> list[str]:
    """Explain and count the verdicts, in one line."""
    judged = [result.verdict for result in results if result.verdict is not None and _usable(result, grades)]
    if not judged:
        return []
    return [
        _(
            "{different} different, certain at {level} ({firm} of {count})   "
            "{equivalent} equal within {margin} ({equal})",
            different=VERDICTS[Verdict.DIFFERENT],
            level=percent(ALPHA),
            firm=judged.count(Verdict.DIFFERENT),
            count=len(judged),
            equivalent=VERDICTS[Verdict.EQUIVALENT],
            margin=percent(THRESHOLD),
            equal=judged.count(Verdict.EQUIVALENT),
        )
    ]


def _answer(results: Sequence[Result], baseline: str, labels: Labels, grades: Grades) -> list[str]:
    """Say in words which cells are fastest, by how much and how sure that is: firm differences first."""
    shown = varying(results)
    usable = [r for r in results if r.ratio and _usable(r, grades) and _base_usable(r, results, baseline, grades)]
    judged = [result for result in usable if result.verdict is not None]
    firm = [result for result in judged if result.verdict is Verdict.DIFFERENT]
    told = sorted(firm or ([] if judged else usable), key=lambda result: _effect(result), reverse=True)
    lines = [
        _sentence(result, labels[result.cell.column], labels[baseline], row_name(result.cell, shown), bool(firm))
        for result in told[: MOST_SENTENCES if firm else 1]
    ]
    if usable and not judged:
        lines.append(_("No verdicts: they take {pairs} rounds; use --profile standard.", pairs=minimum_pairs()))
    return lines


def _base_usable(result: Result, results: Sequence[Result], baseline: str, grades: Grades) -> bool:
    base = baseline_of([other for other in results if row_key(other.cell) == row_key(result.cell)], baseline)
    return base is not None and _usable(base, grades)


def _effect(result: Result) -> float:
    """Return the end of the interval that is nearer to equality, as a logarithm; 0 where equality is inside."""
    assert result.ratio is not None
    low, high = result.ratio.estimate.low, result.ratio.estimate.high
    if low is None or high is None:
        return 0.0
    return max(0.0, math.log(low), -math.log(high))


def _sentence(result: Result, label: Label, base: Label, row: str, firm: bool) -> str:
    """Word one comparison: ``mlp-train: JAX 0.10 jit is 3.3 times as fast as PyTorch 1.13 eager [2.9, 3.8].``"""
    assert result.ratio is not None
    ratio = result.ratio.estimate
    faster = ratio.value < 1.0
    shown = inverse(ratio) if faster else ratio
    said = {
        "row": row,
        "column": label.text,
        "baseline": base.text,
        "factor": format_value(shown),
        "interval": format_interval(shown),
    }
    text = (
        _("{row}: {column} is {factor} times as fast as {baseline} {interval}", **said)
        if faster
        else _("{row}: {column} takes {factor} times as long as {baseline} {interval}", **said)
    )
    return text + (_(", certain at {level}.", level=percent(ALPHA)) if firm else ".")


def _failures(results: Sequence[Result]) -> list[str]:
    """Count the cells without a time, by status."""
    missing = Counter(result.status for result in results if result.step is None)
    if not missing:
        return []
    listed = ", ".join(f"{number} {status}" for status, number in missing.most_common())
    return [_("Without a time: {listed}; the reasons are in the details.", listed=listed)]
