"""Makes the table of details: every cell with its interval, processor time, throughput, ratio, warm-up and spread."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.baselines import Baselines, baselines_of
from ...analysis.comparable_times import disturbed
from ...analysis.result_notes import notes_on_status, notes_on_step
from ...analysis.results import Result
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import baseline_not_in_run, code_noted, not_bound, strict
from ...storage.manifest import Manifest
from ..words.caption import (
    baseline_name,
    compared_of,
    describe_conditions,
    environment_remark,
    noise_watch_remark,
    remark_on,
    warm_up_remark,
)
from ..words.labels import Labels, labels_of
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
from ..words.terms import EXPECTED, format_warm_up, items_word, status_word
from ..words.text import EMPTY
from ..words.verdicts import mark
from .rows import measured_baseline, row_entry, rows_of
from .table import Column, Entry, Group, Table, remarks, without_empty_columns
from .times import format_ratio, notes_on_shown_ratio, ratio_estimate


def detail_columns() -> tuple[Column, ...]:
    return (
        Column(_("framework and mode"), "left"),
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


def detail(analysis: Analysis, manifest: Manifest) -> Table:
    """Make the table of times with a group per workload and a row per environment and mode."""
    results = analysis.results
    baseline = measured_baseline(results, manifest)
    bases = baselines_of(results, manifest.study.baseline)
    labels = labels_of(results)
    groups = tuple(_detail_group(row, bases, baseline, manifest, labels) for row in rows_of(results).values())
    if baseline:
        caption = _(
            "{title}, in detail: median time of one step, throughput, ratio to {baseline} (below 1 is faster), course "
            "of the warm-up, spread between processes / within them, processes × samples of each.",
            title=compared_of(results, manifest),
            baseline=baseline_name(baseline, labels),
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
        *map(remark_on, code_noted(manifest)),
        remark_on(baseline_not_in_run(results, manifest)),
        remark_on(not_bound(manifest)),
        remark_on(strict(manifest)),
        ratio_remark(results),
        verdict_remark(analysis, manifest),
        stop_remark(results, manifest),
        noise_watch_remark(results, manifest),
        warm_up_remark(results),
        environment_remark(results),
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


def _detail_group(
    row: Sequence[Result], bases: Baselines, baseline: str | None, manifest: Manifest, labels: Labels
) -> Group:
    time = choose_unit([result.step.value for result in row if result.step], TIMES)
    throughput = choose_unit([result.throughput.value for result in row if result.throughput], COUNTS)
    item = next((str(result.work["item"]) for result in row if result.work.get("item")), "item")
    per_second = f"{throughput.name} {items_word(item)}/s".strip() if any(result.throughput for result in row) else ""
    cpu = time.name if any(result.cpu_s for result in row) else ""
    latency = time.name if any(result.latency for result in row) else ""
    units = ("", time.name, "", cpu, latency, per_second, "", "", "", "%", "", "")
    rows = tuple(
        (Entry(labels[result.cell.column].text), *_detail_row(result, bases, time.size, throughput.size, baseline))
        for result in row
    )
    return Group(row_entry(row, (), manifest), units, rows)


def _detail_row(
    result: Result, bases: Baselines, time: float, throughput: float, baseline: str | None
) -> tuple[Entry, ...]:
    base = bases.get(result.cell)
    ratio = ratio_estimate(result, base, baseline)
    return (
        Entry(format_value(result.step, time), in_words(notes_on_step(result))),
        Entry(format_interval(result.step, time)),
        Entry(format_cpu(result, time)),
        Entry(format_latency(result, time)),
        Entry(format_value(result.throughput, throughput)),
        Entry(format_ratio(ratio), in_words(notes_on_shown_ratio(result, base, baseline))),
        Entry(f"{format_interval(ratio)} {mark(result.comparison)}".rstrip()),
        Entry(format_warm_up(result.warm_up)),
        Entry(format_spread(result)),
        Entry(sample_count(result)),
        _status_entry(result),
    )


def _status_entry(result: Result) -> Entry:
    if disturbed(result):
        return Entry(_("disturbed"), in_words(notes_on_status(result)), alarm=True)
    return Entry(status_word(result.status), in_words(notes_on_status(result)), alarm=result.status not in EXPECTED)


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
