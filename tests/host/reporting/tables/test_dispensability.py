"""Tests which columns a narrow terminal leaves out, and which comparisons are told in sentences."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from study_reports import report_of

from bench.host.reporting.tables import screen
from bench.host.reporting.tables.dispensability import best_of_versions, dispensability

#: As in ``conftest.LONG``; slow modes of two frameworks besides, and one that has no row with the others' mean.
BASE = "torch1:eager"


def add(study, column, like, factor, workloads=None):
    """Add a column to the study that takes ``factor`` times the time of another one."""
    environment, mode = column.split(":")
    study.records += [
        replace(
            record,
            cell=replace(record.cell, environment=environment, mode=mode),
            sample_ns=[round(ns * factor) for ns in record.sample_ns],
        )
        for record in study.records
        if record.cell.column == like and (workloads is None or record.cell.workload in workloads)
    ]


def screen_of(study, width=80) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    report_of(study).print(console)
    return console.file.getvalue().splitlines()


def table_results(study):
    return report_of(study).analysis.results


def in_order_of_leaving(study) -> list[str]:
    """Name the columns in the order in which ever narrower screens leave them out."""
    table = report_of(study).main
    widths, gone = screen.column_widths(table), []
    for width in range(sum(widths) + screen.GAP * len(widths), 0, -1):
        kept, _gap = screen.fitting(table, widths, width)
        gone += [c.name for i, c in enumerate(table.columns) if i not in kept and c.name not in gone]
    return gone


def test_long_names_of_rows_are_broken_rather_than_leaving_a_column_out(long_study):
    long_study.records = [
        replace(r, cell=replace(r.cell, workload=f"{r.cell.workload}, of a name of two lines"))
        for r in long_study.records
    ]
    lines = screen_of(long_study)
    assert max(map(len, lines)) <= screen.WIDTH
    assert sum(line.startswith("  ") and "lines" in line for line in lines) == 3, "under the first lines"
    assert len(in_order_of_leaving(long_study)) == 7
    headings = " ".join(lines[:8])
    assert all(product in headings for product in ("PyTorch", "TensorFlow", "JAX"))


def test_the_slowest_further_mode_of_a_version_goes_first_and_a_mode_without_a_mean_before_it(long_study):
    long_study.records = [
        r for r in long_study.records if r.cell.column in (BASE, "torch2:eager", "torch2:compile", "jax:jit")
    ]
    add(long_study, "jax:pmap", "jax:jit", 1.2)
    add(long_study, "torch2:slow", "torch2:eager", 3.0)
    add(long_study, "torch2:partial", "torch2:compile", 0.2, ["mlp-train"])
    assert in_order_of_leaving(long_study) == [
        "PyTorch 2.15 partial",
        "PyTorch 2.15 slow",
        "PyTorch 2.15 eager",
        "JAX 2.15 pmap",
        # The best of each version; the baseline is never left out.
        "PyTorch 2.15 compile",
        "JAX 2.15 jit",
    ]


def test_the_baseline_and_the_best_column_of_each_version_stay_longest(long_study):
    add(long_study, "jax:pmap", "jax:jit", 1.2)
    text = screen_of(long_study, 52)
    heading = "\n".join(text[1:5])
    assert "JAX" in heading
    for word in ("1.13", "compile", "jit"):
        assert word in heading
    assert "pmap" not in heading


def test_many_names_are_counted(long_study):
    for number in range(9):
        add(long_study, f"torch2:mode-number-{number}", "torch2:eager", 2.0 + number)
    (line,) = [line for line in screen_of(long_study) if line.startswith("Not shown: ")]
    assert len(line) <= 80
    assert line.endswith(" more (see table.md).")


def test_every_column_is_told_by_its_clearest_comparison(long_study):
    table = report_of(long_study).main
    told = [sentence for sentence in table.sentences if not sentence.startswith(("Fastest", "Best mode"))]
    columns = [sentence.partition(": ")[2].partition(" is ")[0].partition(" takes ")[0] for sentence in told]
    assert len(columns) == len(set(columns)) >= 3
    # What is faster comes first.
    faster = [" is " in sentence for sentence in told]
    assert faster == sorted(faster, reverse=True)


def test_all_comparisons_are_told_where_the_screen_has_room_for_them(long_study):
    kept = (BASE, "jax:jit", "torch2:compile")
    long_study.records = [
        record
        for record in long_study.records
        if record.cell.column in kept and record.cell.workload in ("dispatch", "mlp-train")
    ]
    table = report_of(long_study).main
    told = [sentence for sentence in table.sentences if not sentence.startswith(("Fastest", "Best mode"))]
    assert len(told) == sum(result.ratio is not None for result in table_results(long_study)) > 2


@pytest.mark.parametrize("rows", [3, 7, 10, 14])
def test_the_screen_has_as_many_sentences_as_it_has_lines(long_study, rows):
    for number in range(rows - 3):
        long_study.records += [
            replace(record, cell=replace(record.cell, workload=f"gemm-{number}"))
            for record in long_study.records
            if record.cell.workload == "mlp-train"
        ]
    table = report_of(long_study).main
    lines = screen_of(long_study)
    told = [sentence for sentence in table.sentences if not sentence.startswith(("Fastest", "Best mode"))]
    assert told, "one comparison is always told"
    if rows <= 10:
        # One line more names the files, and one is for the prompt.
        assert len(lines) <= screen.HEIGHT - 2
    assert screen.height(table) == len(lines)


def test_the_best_of_each_version_is_its_column_that_leaves_last_and_the_baseline_is_that_of_its_own(long_study):
    found = report_of(long_study).speed_ups
    order = dispensability(found)
    best = best_of_versions(found, found.columns)
    versions = [(found.labels[column].product, found.labels[column].version) for column in best]
    assert sorted(versions) == sorted(
        {(found.labels[column].product, found.labels[column].version) for column in found.columns}
    )
    assert BASE in best
    assert best == [column for column in found.columns if column in best]
    for column in found.columns:
        label = found.labels[column]
        (own,) = [
            b for b in best if (found.labels[b].product, found.labels[b].version) == (label.product, label.version)
        ]
        assert order[own] <= order[column]
