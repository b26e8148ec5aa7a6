"""Knows what is shown of the results: a summary with a row per workload, and details with a row per cell."""

from __future__ import annotations

from collections.abc import Sequence

from bench.cell import Cell
from bench.record import OK

from ..statistics.bootstrap import Estimate
from .caption import (
    VERDICT_MARKS,
    Conditions,
    baseline_remark,
    cache_remark,
    describe_conditions,
    environment_remark,
    interval_remark,
    ratio_remark,
    verdict_remark,
)
from .footnotes import data_notes, differing_settings, ratio_notes, status_notes, unsteady_notes
from .quantity import COUNTS, MIB, TIMES, choose_unit, format_interval, format_number, format_value
from .results import Result, row_key
from .table import EMPTY, Column, Entry, Group, Table, without_empty_columns

DETAILS = (
    Column("environment:mode", "left"),
    Column("step time"),
    Column("interval", "left", dispensable=1),
    Column("throughput", dispensable=2),
    Column("ratio"),
    Column("interval", "left"),
    Column("cold call", dispensable=4),
    Column("warm call", dispensable=5),
    Column("memory", dispensable=3),
    Column("n", dispensable=6),
    Column("status", "left"),
)

Rows = dict[tuple[str, int], list[Result]]


def rows_of(results: Sequence[Result]) -> Rows:
    """Group results by what they compute, in the order of the study."""
    rows: Rows = {}
    for result in results:
        rows.setdefault(row_key(result.cell), []).append(result)
    columns = columns_of(results)
    return {key: sorted(row, key=lambda result: columns.index(result.cell.column)) for key, row in rows.items()}


def columns_of(results: Sequence[Result]) -> list[str]:
    """List the columns, those of one environment side by side."""
    environments = list(dict.fromkeys(result.cell.environment for result in results))
    columns = dict.fromkeys((result.cell.environment, result.cell.column) for result in results)
    return [column for _, column in sorted(columns, key=lambda pair: environments.index(pair[0]))]


def facets(cell: Cell) -> tuple[str, ...]:
    """Return what a row is, part by part."""
    threads = f"{cell.threads} thread" + ("" if cell.threads == 1 else "s")
    return (cell.workload, cell.size, cell.precision, cell.device, threads)


def varying(results: Sequence[Result]) -> tuple[bool, ...]:
    """Tell which parts of a row's name differ between rows; the workload is always told."""
    different = tuple(len(set(values)) > 1 for values in zip(*(facets(r.cell) for r in results), strict=True))
    return (True, *different[1:])


def shared_facets(results: Sequence[Result]) -> str:
    """Name what all rows have in common: ``small, float32, cpu, 2 threads``."""
    if not results:
        return ""
    parts = zip(facets(results[0].cell), varying(results), strict=True)
    return ", ".join(part for part, differs in parts if not differs)


def row_name(cell: Cell, shown: Sequence[bool]) -> str:
    return ", ".join(part for part, wanted in zip(facets(cell), shown, strict=True) if wanted)


def measured_baseline(results: Sequence[Result], conditions: Conditions) -> str | None:
    """Return the column that ratios are taken to; None where no cell of it is part of the run."""
    return conditions.baseline if conditions.baseline in columns_of(results) else None


def baseline_of(row: Sequence[Result], baseline: str | None) -> Result | None:
    return next((result for result in row if result.cell.column == baseline), None)


def ratio_estimate(result: Result, baseline: str | None) -> Estimate | None:
    """Return the ratio to show; the baseline's own is one by definition."""
    if result.cell.column == baseline and result.step is not None:
        return Estimate(1.0, None, None, 0)
    return result.ratio.estimate if result.ratio else None


def format_ratio(estimate: Estimate | None) -> str:
    return "1" if estimate is not None and estimate.n == 0 else format_value(estimate)


def summarise(results: Sequence[Result], conditions: Conditions) -> Table:
    """Make the table with a row per workload and a column per environment and mode."""
    columns, shown, baseline = columns_of(results), varying(results), measured_baseline(results, conditions)
    rows = []
    for row in rows_of(results).values():
        unit = choose_unit([result.step.value for result in row if result.step], TIMES)
        places = {result.cell.column: result for result in row}
        base = baseline_of(row, baseline)
        entries = [_summary_entry(places.get(column), base, unit.size, baseline) for column in columns]
        name = Entry(row_name(row[0].cell, shown), (*differing_settings(row), *data_notes(row)))
        rows.append((name, Entry(unit.name), *entries))
    shared = shared_facets(results)
    caption = f"{conditions.title}: median time of one step" + (f" ({shared})" if shared else "")
    if baseline:
        caption += f", and in parentheses its ratio to {baseline} (below 1 is faster)"
    titles = (Column("workload", "left"), Column("unit", "left"), *(Column(column) for column in columns))
    return Table(
        f"{conditions.name}-summary",
        "Summary",
        f"{caption}. {describe_conditions(conditions, results)}",
        titles,
        (Group(Entry(""), ("",) * len(titles), tuple(rows)),) if rows else (),
        remarks(baseline_remark(results, conditions), verdict_remark(results), environment_remark(results)),
    )


def _summary_entry(result: Result | None, base: Result | None, size: float, baseline: str | None) -> Entry:
    if result is None:
        return Entry(EMPTY)
    notes = status_notes(result)
    if result.step is None:
        return Entry(EMPTY if result.status == OK else result.status, notes)
    notes += unsteady_notes(result)
    text = format_value(result.step, size)
    ratio = ratio_estimate(result, baseline)
    if ratio is not None:
        text += f" ({format_ratio(ratio)}{VERDICT_MARKS[result.verdict] if result.verdict else ''})"
    if baseline:
        notes += ratio_notes(result, base)
    return Entry(text, notes)


def detail(results: Sequence[Result], conditions: Conditions) -> Table:
    """Make the table with a group per workload and a row per environment and mode."""
    baseline = measured_baseline(results, conditions)
    groups = tuple(_detail_group(row, baseline) for row in rows_of(results).values())
    ratio = f"ratio to {baseline} (below 1 is faster), " if baseline else ""
    caption = (
        f"{conditions.title}, in detail: median time of one step, throughput, {ratio}first call in a new process "
        f"with a cold and with a warm compilation cache, peak memory net of the import, processes × samples of each. "
        f"{describe_conditions(conditions, results)}"
    )
    notes = remarks(
        interval_remark(results),
        baseline_remark(results, conditions),
        ratio_remark(results),
        verdict_remark(results),
        cache_remark(results, conditions),
    )
    return without_empty_columns(Table(f"{conditions.name}-details", "Details", caption, DETAILS, groups, notes))


def _detail_group(row: Sequence[Result], baseline: str | None) -> Group:
    time = choose_unit([result.step.value for result in row if result.step], TIMES)
    throughput = choose_unit([result.throughput.value for result in row if result.throughput], COUNTS)
    item = next((str(result.work["item"]) for result in row if result.work.get("item")), "item")
    per_second = f"{throughput.name} {item}s/s".strip() if any(result.throughput for result in row) else ""
    units = ("", time.name, "", per_second, "", "", "s", "s", "MiB", "", "")
    base = baseline_of(row, baseline)
    heading = Entry(", ".join(facets(row[0].cell)), (*differing_settings(row), *data_notes(row)))
    rows = tuple(_detail_row(result, base, time.size, throughput.size, baseline) for result in row)
    return Group(heading, units, rows)


def _detail_row(
    result: Result, base: Result | None, time: float, throughput: float, baseline: str | None
) -> tuple[Entry, ...]:
    ratio = ratio_estimate(result, baseline)
    verdict = f" {VERDICT_MARKS[result.verdict]}" if result.verdict else ""
    peak = result.peak_bytes
    return (
        Entry(result.cell.column),
        Entry(format_value(result.step, time), unsteady_notes(result)),
        Entry(format_interval(result.step, time)),
        Entry(format_value(result.throughput, throughput)),
        Entry(format_ratio(ratio), ratio_notes(result, base) if baseline else ()),
        Entry(format_interval(ratio) + verdict),
        Entry(format_number(result.first_call_s("cold"))),
        Entry(format_number(result.first_call_s("warm"))),
        Entry(format_number(None if peak is None else peak / MIB)),
        Entry(sample_count(result)),
        Entry(result.status, status_notes(result)),
    )


def sample_count(result: Result) -> str:
    """Write processes × samples: ``5×40``, or ``5×38–40`` where processes have unequal numbers."""
    if not result.samples:
        return EMPTY
    fewest, most = min(result.samples), max(result.samples)
    return f"{len(result.samples)}×{fewest}" + ("" if fewest == most else f"–{most}")


def remarks(*texts: str) -> tuple[str, ...]:
    return tuple(text for text in texts if text)
