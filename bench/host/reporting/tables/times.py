"""Makes the tables of times: the summary, with a row per workload, and the details, with a row per cell."""

from __future__ import annotations

from collections.abc import Sequence

from bench.record import OK

from ...analysis.baselines import Baselines, baselines_of
from ...analysis.result_notes import notes_on_ratio, notes_on_status, notes_on_step
from ...analysis.results import Result, columns_of
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import baseline_not_in_run, environments_noted, not_bound, strict
from ...statistics.bootstrap import Estimate
from ...storage.manifest import Manifest
from ...study.baseline import CHOSEN
from ..words.caption import (
    baseline_name,
    compared_of,
    describe_conditions,
    environment_remark,
    noise_watch_remark,
    remark_on,
    warm_up_remark,
)
from ..words.language import _
from ..words.notes import in_words
from ..words.numbers import COUNTS, TIMES, choose_unit, fixed, format_interval, format_number, format_value, percent
from ..words.remarks import (
    cpu_remark,
    interval_remark,
    latency_remark,
    noise_remark,
    ratio_remark,
    stop_remark,
    verdict_remark,
)
from ..words.row_names import shared_facets, usual_facets
from ..words.terms import EXPECTED, format_warm_up, items_word, status_word
from ..words.text import EMPTY
from ..words.verdicts import mark
from .rows import measured_baseline, row_entry, rows_of
from .table import Column, Entry, Group, Table, remarks, without_empty_columns


def detail_columns() -> tuple[Column, ...]:
    return (
        Column(_("environment:mode"), "left"),
        Column(_("step time")),
        Column(_("interval"), "left", dispensable=1),
        Column(_("CPU"), dispensable=6),
        Column("p50 / p99", dispensable=1),
        Column(_("throughput"), dispensable=2),
        Column(_("ratio")),
        Column(_("interval"), "left"),
        Column(_("warm-up"), "left", dispensable=3),
        Column(_("spread"), dispensable=5),
        Column("n", dispensable=4),
        Column(_("status"), "left"),
    )


def ratio_estimate(result: Result, base: Result | None, baseline: str | None) -> Estimate | None:
    """Return the ratio to show; what is compared with nothing has the ratio one, by definition."""
    if base is None and baseline in (*CHOSEN, result.cell.column) and result.step is not None:
        return ONE
    return result.ratio.estimate if result.ratio else None


#: Of the baseline itself.
ONE = Estimate(1.0, None, None, 0)


def format_ratio(estimate: Estimate | None) -> str:
    return "1" if estimate is not None and estimate.n == 0 else format_value(estimate)


def summarise(analysis: Analysis, manifest: Manifest, *, ranking: str = "") -> Table:
    """Make the table with a row per workload and a column per environment and mode.

    ``ranking`` says why there is no ranking, where there is none.
    """
    results = analysis.results
    columns, usual, baseline = columns_of(results), usual_facets(results), measured_baseline(results, manifest)
    bases = baselines_of(results, manifest.study.baseline)
    rows = []
    for row in rows_of(results).values():
        unit = choose_unit([result.step.value for result in row if result.step], TIMES)
        places = {result.cell.column: result for result in row}
        entries = [_summary_entry(places.get(column), bases, unit.size, baseline) for column in columns]
        rows.append((row_entry(row, usual, manifest), Entry(unit.name), *entries))
    titles = (Column(_("workload"), "left"), Column(_("unit"), "left"), *(Column(column) for column in columns))
    return Table(
        f"{manifest.study.name}-summary",
        _("Times"),
        f"{_summary_caption(results, baseline, manifest)} {describe_conditions(manifest, results)}",
        titles,
        (Group(Entry(""), ("",) * len(titles), tuple(rows)),) if rows else (),
        remarks(
            noise_remark(analysis, manifest),
            *map(remark_on, environments_noted(manifest)),
            remark_on(baseline_not_in_run(results, manifest)),
            remark_on(not_bound(manifest)),
            remark_on(strict(manifest)),
            verdict_remark(analysis, manifest),
            ranking,
            environment_remark(results),
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
        _("In parentheses: its ratio to {baseline} (below 1 is faster).", baseline=baseline_name(baseline))
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
        return Entry(EMPTY if result.status == OK else status_word(result.status), in_words(notes))
    notes += notes_on_step(result)
    text = format_value(result.step, size)
    ratio = ratio_estimate(result, base, baseline)
    if ratio is not None:
        text += f" ({format_ratio(ratio)}{mark(result.comparison)})"
    if baseline and ratio is not ONE:
        notes += notes_on_ratio(result, base)
    return Entry(text, in_words(notes))


def detail(analysis: Analysis, manifest: Manifest) -> Table:
    """Make the table of times with a group per workload and a row per environment and mode."""
    results = analysis.results
    baseline = measured_baseline(results, manifest)
    bases = baselines_of(results, manifest.study.baseline)
    groups = tuple(_detail_group(row, bases, baseline, manifest) for row in rows_of(results).values())
    if baseline:
        caption = _(
            "{title}, in detail: median time of one step, throughput, ratio to {baseline} (below 1 is faster), course "
            "of the warm-up, spread between processes / within them, processes × samples of each.",
            title=compared_of(results, manifest),
            baseline=baseline_name(baseline),
        )
    else:
        caption = _(
            "{title}, in detail: median time of one step, throughput, course of the warm-up, spread between processes "
            "/ within them, processes × samples of each.",
            title=compared_of(results, manifest),
        )
    notes = remarks(
        noise_remark(analysis, manifest),
        interval_remark(results),
        cpu_remark(results),
        latency_remark(results),
        *map(remark_on, environments_noted(manifest)),
        remark_on(baseline_not_in_run(results, manifest)),
        remark_on(not_bound(manifest)),
        remark_on(strict(manifest)),
        ratio_remark(results),
        verdict_remark(analysis, manifest),
        stop_remark(results, manifest),
        noise_watch_remark(results, manifest),
        warm_up_remark(results),
    )
    return without_empty_columns(
        Table(
            f"{manifest.study.name}-details",
            _("Details"),
            f"{caption} {describe_conditions(manifest, results)}",
            detail_columns(),
            groups,
            notes,
        )
    )


def _detail_group(row: Sequence[Result], bases: Baselines, baseline: str | None, manifest: Manifest) -> Group:
    time = choose_unit([result.step.value for result in row if result.step], TIMES)
    throughput = choose_unit([result.throughput.value for result in row if result.throughput], COUNTS)
    item = next((str(result.work["item"]) for result in row if result.work.get("item")), "item")
    per_second = f"{throughput.name} {items_word(item)}/s".strip() if any(result.throughput for result in row) else ""
    cpu = time.name if any(result.cpu_s for result in row) else ""
    latency = time.name if any(result.latency for result in row) else ""
    units = ("", time.name, "", cpu, latency, per_second, "", "", "", "%", "", "")
    rows = tuple(_detail_row(result, bases, time.size, throughput.size, baseline) for result in row)
    return Group(row_entry(row, (), manifest), units, rows)


def _detail_row(
    result: Result, bases: Baselines, time: float, throughput: float, baseline: str | None
) -> tuple[Entry, ...]:
    base = bases.get(result.cell)
    ratio = ratio_estimate(result, base, baseline)
    return (
        Entry(result.cell.column),
        Entry(format_value(result.step, time), in_words(notes_on_step(result))),
        Entry(format_interval(result.step, time)),
        Entry(format_cpu(result, time)),
        Entry(format_latency(result, time)),
        Entry(format_value(result.throughput, throughput)),
        Entry(format_ratio(ratio), in_words(notes_on_ratio(result, base)) if baseline and ratio is not ONE else ()),
        Entry(f"{format_interval(ratio)} {mark(result.comparison)}".rstrip()),
        Entry(format_warm_up(result.warm_up)),
        Entry(format_spread(result)),
        Entry(sample_count(result)),
        Entry(status_word(result.status), in_words(notes_on_status(result)), alarm=result.status not in EXPECTED),
    )


def format_cpu(result: Result, size: float) -> str:
    """Write the processor time of a step in a unit of ``size``, and the processors that it keeps busy: ``92 (1.8)``."""
    used = result.cpu_per_wall
    return EMPTY if result.cpu_s is None or used is None else f"{format_number(result.cpu_s / size)} ({fixed(used, 1)})"


def format_latency(result: Result, size: float) -> str:
    """Write the median and the 99 % quantile of single steps in a unit of ``size``: ``2.1 / 2.9``."""
    found = result.latency
    return f"{format_number(found.p50_s / size)} / {format_number(found.p99_s / size)}" if found else EMPTY


def format_spread(result: Result) -> str:
    """Write how far processes' medians lie apart, and a process's samples, in percent: ``1.2 / 3.4``."""
    between, within = result.spread_between, result.spread_within
    if within is None:
        return EMPTY
    return f"{EMPTY if between is None else percent(between, 1).rstrip('%')} / {percent(within, 1).rstrip('%')}"


def sample_count(result: Result) -> str:
    """Write processes × samples: ``5×40``, or ``5×38–40`` where processes have unequal numbers."""
    if not result.samples:
        return EMPTY
    fewest, most = min(result.samples), max(result.samples)
    return f"{len(result.samples)}×{fewest}" + ("" if fewest == most else f"–{most}")
