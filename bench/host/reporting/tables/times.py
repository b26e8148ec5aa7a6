"""Makes the table of times, with a row per workload and a column per framework and mode."""

from __future__ import annotations

from collections.abc import Sequence

from bench.record import OK

from ...analysis.baselines import Baselines, baselines_of
from ...analysis.comparable_times import disturbed
from ...analysis.notes import Note
from ...analysis.quality import Quality
from ...analysis.result_notes import notes_on_ratio, notes_on_status, notes_on_step
from ...analysis.results import Result, columns_of
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import baseline_not_in_run, code_noted, not_bound, strict
from ...statistics.bootstrap import Estimate
from ...storage.manifest import Manifest
from ...study.baseline import CHOSEN
from ..words.answer import WITHHELD
from ..words.caption import (
    baseline_name,
    compared_of,
    describe_conditions,
    remark_on,
)
from ..words.labels import in_order, labels_of
from ..words.language import _
from ..words.notes import in_brief
from ..words.numbers import TIMES, choose_unit, format_value
from ..words.quality import meaning
from ..words.remarks import noise_remark, verdict_remark
from ..words.row_names import shared_facets, usual_facets
from ..words.terms import status_word
from ..words.text import EMPTY
from ..words.verdicts import mark
from .rows import measured_baseline, row_entry, rows_of
from .table import Column, Entry, Table, remarks, ungrouped


def ratio_estimate(result: Result, base: Result | None, baseline: str | None) -> Estimate | None:
    """Return the ratio to show; what is compared with nothing has the ratio one, by definition.

    None of times that other programs disturbed.
    """
    if has_disturbed(result, base):
        return None
    if base is None and baseline in (*CHOSEN, result.cell.column) and result.step is not None:
        return ONE
    return result.ratio.estimate if result.ratio else None


def has_disturbed(result: Result, base: Result | None) -> bool:
    """Tell whether other programs disturbed one of the two times of a ratio."""
    return disturbed(result) or (base is not None and disturbed(base))


def notes_on_shown_ratio(result: Result, base: Result | None, baseline: str | None) -> tuple[Note, ...]:
    """Find what a ratio hides; nothing of the baseline itself, nor where a status says already why there is none."""
    if not baseline or ratio_estimate(result, base, baseline) is ONE or has_disturbed(result, base):
        return ()
    return notes_on_ratio(result, base)


#: Of the baseline itself.
ONE = Estimate(1.0, None, None, 0)


def format_ratio(estimate: Estimate | None) -> str:
    return "1" if estimate is not None and estimate.n == 0 else format_value(estimate)


def summarise(analysis: Analysis, manifest: Manifest, *, ranking: str = "") -> Table:
    """Make the table with a row per workload and a column per environment and mode.

    ``ranking`` says why there is no ranking, where there is none.
    """
    results = analysis.results
    labels, usual, baseline = labels_of(results), usual_facets(results), measured_baseline(results, manifest)
    columns = in_order(columns_of(results), labels)
    bases = baselines_of(results, manifest.study.baseline)
    rows = []
    for row in rows_of(results).values():
        unit = choose_unit([result.step.value for result in row if result.step], TIMES)
        places = {result.cell.column: result for result in row}
        entries = [_summary_entry(places.get(column), bases, unit.size, baseline) for column in columns]
        rows.append((row_entry(row, usual, manifest), Entry(unit.name), *entries))
    titles = (
        Column(_("workload"), "left"),
        Column(_("unit"), "left"),
        *(Column(labels[column].heading, name=labels[column].text, group=labels[column].release) for column in columns),
    )
    return Table(
        f"{manifest.study.name}-summary",
        _("Times"),
        f"{_summary_caption(results, baseline, manifest)} {describe_conditions(manifest, results)}",
        titles,
        ungrouped(rows, len(titles)) if rows else (),
        remarks(
            noise_remark(analysis, manifest),
            *map(remark_on, code_noted(manifest)),
            remark_on(baseline_not_in_run(results, manifest)),
            remark_on(not_bound(manifest)),
            remark_on(strict(manifest)),
            verdict_remark(analysis, manifest),
            ranking,
        ),
        names=2,
    )


def _summary_caption(results: Sequence[Result], baseline: str | None, manifest: Manifest) -> str:
    title, shared = compared_of(results, manifest), shared_facets(results)
    if shared:
        text = _("{title}: median time of one step ({shared}).", title=title, shared=shared)
    else:
        text = _("{title}: median time of one step.", title=title)
    ratio = (
        _(
            "In parentheses: its ratio to {baseline} (below 1 is faster).",
            baseline=baseline_name(baseline, labels_of(results)),
        )
        if baseline
        else ""
    )
    return f"{text} {ratio}".rstrip()


def _summary_entry(result: Result | None, bases: Baselines, size: float, baseline: str | None) -> Entry:
    if result is None:
        return Entry(EMPTY)
    base = bases.get(result.cell)
    notes = notes_on_status(result)
    if result.step is None:
        return Entry(EMPTY if result.status == OK else status_word(result.status), in_brief(notes))
    if disturbed(result):
        return Entry(WITHHELD, (*in_brief(notes), meaning(Quality.DISTURBED)))
    notes += notes_on_step(result)
    text = format_value(result.step, size)
    ratio = ratio_estimate(result, base, baseline)
    if ratio is not None:
        text += f" ({format_ratio(ratio)}{mark(result.comparison)})"
    if baseline and ratio is not ONE:
        notes += notes_on_ratio(result, base)
    return Entry(text, in_brief(notes))
