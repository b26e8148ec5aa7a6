"""Makes the table of costs: the time to start a cell, its memory, and how much of the machine's peak it reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...analysis.result_notes import notes_on_first_call, notes_on_largest_batch, notes_on_peak_memory
from ...analysis.results import Result
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import cache_kept, imports_shared
from ...analysis.startup import import_s
from ...storage.manifest import Manifest
from ...study.baseline import BEST
from ..words.caption import baseline_name, compared_of, describe_conditions, largest_batch_remark, remark_on
from ..words.efficiency import efficiency_remark, format_rate
from ..words.labels import Labels, labels_of
from ..words.language import _
from ..words.notes import in_words
from ..words.numbers import COUNTS, JOULES, MIB, choose_unit, fixed, format_number
from ..words.remarks import noise_remark
from ..words.row_names import row_name
from ..words.startup import format_break_even
from ..words.terms import items_word
from ..words.text import EMPTY
from .rows import measured_baseline, rows_of
from .table import Column, Entry, Group, Table, remarks, without_empty_columns

#: What a process needs at most to change the layout of its memory between turns: see ``bench.worker.timing.layout``.
LAYOUTS_MIB = 0.7


def cost_columns() -> tuple[Column, ...]:
    return (
        Column(_("framework and mode"), "left"),
        Column(_("import"), dispensable=5),
        Column(_("cold call")),
        Column(_("warm call"), dispensable=4),
        Column(_("break-even"), dispensable=1),
        Column(_("memory")),
        Column(_("reserved"), dispensable=6),
        Column(_("by driver"), dispensable=7),
        Column(_("energy"), dispensable=8),
        Column(_("largest batch"), dispensable=2),
        Column("FLOP/s", dispensable=3),
        Column(_("bytes/s"), dispensable=3),
    )


def account(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table of costs with a group per workload and a row per environment and mode.

    A cell of which nothing is known is left out, as the details say why; None where nothing is known of any.
    """
    results = analysis.results
    labels = labels_of(results)
    groups = tuple(_group(row, labels) for row in rows_of(results).values())
    groups = tuple(group for group in map(_without_empty_rows, groups) if group.rows)
    if not groups:
        return None
    baseline = measured_baseline(results, manifest)
    notes = remarks(
        noise_remark(analysis, manifest),
        remark_on(imports_shared(results)),
        remark_on(cache_kept(results, manifest)),
        largest_batch_remark(results),
        efficiency_remark(results, manifest),
    )
    return without_empty_columns(
        Table(
            f"{manifest.study.name}-costs",
            _("Costs"),
            f"{_caption(results, baseline, manifest)} {describe_conditions(manifest, results)}",
            cost_columns(),
            groups,
            notes,
        )
    )


def _caption(results: Sequence[Result], baseline: str | None, manifest: Manifest) -> str:
    parts = [
        _(
            "{title}, costs: import, first call in a new process with a cold and with a warm compilation cache, peak "
            "memory of the steps, and what was achieved of the machine's peak.",
            title=compared_of(results, manifest),
        )
    ]
    if baseline == BEST:
        parts.append(
            _(
                "Break-even: the steps after which the best of its row has overtaken it, (best's cold call − cold "
                "call) / (step time − best's step time)."
            )
        )
    elif baseline:
        parts.append(
            _(
                "Break-even: the steps after which it has overtaken {baseline}, (cold call − baseline's cold call) / "
                "(baseline's step time − step time).",
                baseline=baseline_name(baseline, labels_of(results)),
            )
        )
    parts.append(
        _(
            "Memory: without that of the import, but with up to {layouts} MiB for changing layouts (on a GPU: of the "
            "whole process, allocated, reserved, and as the driver reports).",
            layouts=fixed(LAYOUTS_MIB, 1),
        )
    )
    if any(result.joules(net=False) is not None for result in results):
        parts.append(_("Energy: of the device in one step; in parentheses, less what it takes at rest."))
    return " ".join(parts)


def _group(row: Sequence[Result], labels: Labels) -> Group:
    flops = choose_unit([a.flops_per_s for result in row if (a := result.achieved) and a.flops_per_s], COUNTS)
    moved = choose_unit([a.bytes_per_s for result in row if (a := result.achieved) and a.bytes_per_s], COUNTS)
    energy = choose_unit([joules for result in row if (joules := result.joules(net=False))], JOULES)
    item = next((str(r.largest_batch["item"]) for r in row if r.largest_batch and r.largest_batch.get("item")), "item")
    units = ("", "s", "s", "s", _("steps"), "MiB", "MiB", "MiB", energy.name, items_word(item), flops.name, moved.name)
    heading = Entry(row_name(row[0].cell))
    rows = (
        (Entry(labels[result.cell.column].text), *_row(result, energy.size, flops.size, moved.size)) for result in row
    )
    return Group(heading, units, tuple(rows))


def _row(result: Result, energy: float, flops: float, moved: float) -> tuple[Entry, ...]:
    achieved, batch = result.achieved, result.largest_batch or {}
    return (
        Entry(format_number(import_s(result))),
        _first_call(result, "cold"),
        _first_call(result, "warm"),
        Entry(format_break_even(result.break_even)),
        replace(_mebibytes(result.peak_bytes), notes=in_words(notes_on_peak_memory(result))),
        _mebibytes(result.memory_bytes("reserved_peak_bytes")),
        _mebibytes(result.memory_bytes("nvml_peak_bytes")),
        Entry(_energy(result, energy)),
        Entry(str(batch.get("items") or EMPTY), in_words(notes_on_largest_batch(result))),
        Entry(format_rate(achieved.flops_per_s, achieved.flops_share, flops) if achieved else EMPTY),
        Entry(format_rate(achieved.bytes_per_s, achieved.bytes_share, moved) if achieved else EMPTY),
    )


def _first_call(result: Result, cache: str) -> Entry:
    """Give the median of the first calls; a note says where there is only one."""
    return Entry(format_number(result.first_call_s(cache)), in_words(notes_on_first_call(result, cache)))


def _energy(result: Result, size: float) -> str:
    """Write the energy of a step, and in parentheses what it takes beyond the device at rest."""
    joules, net = result.joules(net=False), result.joules(net=True)
    if joules is None:
        return EMPTY
    return format_number(joules / size) + (f" ({format_number(max(0.0, net) / size)})" if net is not None else "")


def _mebibytes(size: float | None) -> Entry:
    return Entry(format_number(None if size is None else size / MIB))


def _without_empty_rows(group: Group) -> Group:
    rows = (row for row in group.rows if any(entry.text != EMPTY or entry.notes for entry in row[1:]))
    return replace(group, rows=tuple(rows))
