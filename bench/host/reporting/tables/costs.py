"""Knows how costs are shown: what a cell takes to start, the memory it needs, and how much of the machine it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...analysis.efficiency import efficiency_remark, format_rate
from ...analysis.results import Result
from ...analysis.run_analysis import Analysis
from ...analysis.startup import FORMULA, format_break_even, import_s
from ...storage.manifest import Manifest
from ..footnotes import largest_batch_notes, remarks
from ..words.caption import cache_remark, describe_conditions, import_remark, largest_batch_remark, title_of
from ..words.numbers import COUNTS, MIB, choose_unit, format_number
from ..words.remarks import noise_remark
from .rows import facets, measured_baseline, row_name, rows_of
from .table import (
    EMPTY,
    Column,
    Entry,
    Group,
    Table,
    without_empty_columns,
)

RESOURCES = (
    Column("environment:mode", "left"),
    Column("import", dispensable=5),
    Column("cold call"),
    Column("warm call", dispensable=4),
    Column("break-even", dispensable=1),
    Column("memory"),
    Column("reserved", dispensable=6),
    Column("by driver", dispensable=7),
    Column("largest batch", dispensable=2),
    Column("FLOP/s", dispensable=3),
    Column("bytes/s", dispensable=3),
)


def account(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table of costs with a group per workload and a row per environment and mode.

    A cell of which nothing is known is left out, as the details say why; None where nothing is known of any.
    """
    results = analysis.results
    groups = tuple(_group(row) for row in rows_of(results).values())
    groups = tuple(group for group in map(_without_empty_rows, groups) if group.rows)
    if not groups:
        return None
    baseline = measured_baseline(results, manifest)
    even = f"steps after which it has overtaken {baseline}, {FORMULA}, " if baseline else ""
    caption = (
        f"{title_of(manifest)}, costs: import, first call in a new process with a cold and with a warm compilation "
        f"cache, {even}peak memory of the steps net of the import, up to 0.7 MiB for changing layouts with it (on a "
        f"GPU: of the whole process, allocated, reserved, and seen by the driver), and what was achieved of the "
        f"machine's peak. {describe_conditions(manifest, results)}"
    )
    notes = remarks(
        noise_remark(analysis, manifest),
        import_remark(results),
        cache_remark(results, manifest),
        largest_batch_remark(results),
        efficiency_remark(results, manifest),
    )
    return without_empty_columns(Table(f"{manifest.study.name}-costs", "Costs", caption, RESOURCES, groups, notes))


def _group(row: Sequence[Result]) -> Group:
    flops = choose_unit([a.flops_per_s for result in row if (a := result.achieved) and a.flops_per_s], COUNTS)
    moved = choose_unit([a.bytes_per_s for result in row if (a := result.achieved) and a.bytes_per_s], COUNTS)
    item = next((str(r.largest_batch["item"]) for r in row if r.largest_batch and r.largest_batch.get("item")), "item")
    units = ("", "s", "s", "s", "steps", "MiB", "MiB", "MiB", f"{item}s", flops.name, moved.name)
    heading = Entry(row_name(row[0].cell, (True,) * len(facets(row[0].cell))))
    return Group(heading, units, tuple(_row(result, flops.size, moved.size) for result in row))


def _row(result: Result, flops: float, moved: float) -> tuple[Entry, ...]:
    achieved, batch = result.achieved, result.largest_batch or {}
    return (
        Entry(result.cell.column),
        Entry(format_number(import_s(result))),
        _first_call(result, "cold"),
        _first_call(result, "warm"),
        Entry(format_break_even(result.break_even)),
        replace(_mebibytes(result.peak_bytes), notes=peak_notes(result)),
        _mebibytes(result.memory_bytes("reserved_peak_bytes")),
        _mebibytes(result.memory_bytes("nvml_peak_bytes")),
        Entry(str(batch.get("items") or EMPTY), largest_batch_notes(result)),
        Entry(format_rate(achieved.flops_per_s, achieved.flops_share, flops) if achieved else EMPTY),
        Entry(format_rate(achieved.bytes_per_s, achieved.bytes_share, moved) if achieved else EMPTY),
    )


def _first_call(result: Result, cache: str) -> Entry:
    """Give the median of the first calls; a single one is told as such."""
    notes = ("a single process",) if result.first_calls(cache) == 1 < len(result.records) else ()
    return Entry(format_number(result.first_call_s(cache)), notes)


def peak_notes(result: Result) -> tuple[str, ...]:
    """Tell of a peak that holds more than the steps."""
    if not result.memory_bytes("peak_is_of_all"):
        return ()
    return ("the peak is that of the whole process, first call and check included: the kernel does not reset it",)


def _mebibytes(size: float | None) -> Entry:
    return Entry(format_number(None if size is None else size / MIB))


def _without_empty_rows(group: Group) -> Group:
    rows = (row for row in group.rows if any(entry.text != EMPTY or entry.notes for entry in row[1:]))
    return replace(group, rows=tuple(rows))
