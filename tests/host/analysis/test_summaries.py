"""Tests that a run's summary grades its numbers as reports do."""

from __future__ import annotations

from bench.host.analysis.run_analysis import analyse
from bench.host.analysis.summaries import grade_of, summarise
from bench.host.commands import show


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
