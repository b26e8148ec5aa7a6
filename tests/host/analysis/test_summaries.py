"""Tests that a run's summary grades its numbers as reports do."""

from __future__ import annotations

import math

import pytest

from bench.cell import Cell
from bench.host.analysis.run_analysis import analyse
from bench.host.analysis.summaries import grade_of, summarise
from bench.host.commands import show
from bench.host.storage.manifest import Manifest
from bench.record import Record


def test_every_cell_of_a_summary_has_the_grade_of_the_report(long_study):
    """Noisy, unsteady by recompiling, disturbed, without a time, and without a baseline in its row."""
    long_study.change("torch2:eager", "mlp-train", sample_ns=lambda r: [ns * (1 + r.round % 2) for ns in r.sample_ns])
    long_study.change("tf2:xla", "mlp-train", compilation={"recompiled_while_timing": 1})
    long_study.change("jax:jit", "dispatch", other_load=0.9)
    long_study.end("jax:eager", "dispatch", "failed", "measure", "no memory")
    long_study.end("torch1:eager", "catdog-cnn-train", "failed", "measure", "no memory")
    long_study.change("tf2:eager", "catdog-cnn-train", sample_ns=lambda r: [ns << r.round % 2 for ns in r.sample_ns])
    analysis = analyse(long_study.records, long_study.manifest)
    expected = {f"{one.cell.column} {one.cell.row}": one.quality for one in analysis.results}
    cells = summarise(long_study.records, long_study.manifest).cells
    found = {cell.name: grade_of(cell, show.speed_up(cell)) for cell in cells}
    assert found == expected
    assert len(set(found.values())) == 5


def test_ratios_are_in_the_order_of_rounds_however_many_a_cell_has():
    """As text, round 10 is before round 2: cells of 11 and 15 rounds had other rounds at the same number."""
    columns = {"eager": 15, "jit": 15, "compile": 11}
    made = [
        Record(_cell(mode), number, 1, "ok", sample_ns=[_ns(mode, number)], sample_steps=[1], sample_turn=[0])
        for mode, rounds in columns.items()
        for number in range(rounds)
    ]
    manifest = Manifest.from_json({"study": {"baseline": "torch2:eager"}})
    found = {cell.column: cell.log_ratios for cell in summarise(made, manifest).cells}
    expected = [math.log1p(number / 100) for number in range(15)]
    assert found["torch2:jit"] == pytest.approx(expected, abs=1e-5)
    assert found["torch2:compile"] == pytest.approx(expected[:11], abs=1e-5)


def _cell(mode: str) -> Cell:
    return Cell("torch2", "torch", mode, "gemm", "tiny", "float32", "cpu", 2)


def _ns(mode: str, number: int) -> int:
    return 10_000 + (0 if mode == "eager" else 100 * number)
