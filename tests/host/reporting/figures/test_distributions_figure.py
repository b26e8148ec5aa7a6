"""Tests what explains the figure of distributions, and that its notes and ticks do not touch."""

from __future__ import annotations

import itertools
from dataclasses import replace

from speedup_figures import below

from bench.host.reporting import report
from bench.host.reporting.figures import break_even, distributions
from bench.host.reporting.renderers import figure_files


def test_the_dotted_line_is_explained(long_study):
    assert "dotted: time of PyTorch 1.13 eager" in below(
        distributions.draw(report.make(long_study.records, long_study.manifest))
    )
    long_study.run["study"]["baseline"] = "best"
    assert "dotted" not in below(distributions.draw(report.make(long_study.records, long_study.manifest)))


def test_names_of_ticks_stand_apart(long_study):
    """From 6.8 to 16.5 ms the ticks 10 and 12 ms touched."""
    factors = {"torch1:eager": 6.8e6, "jax:jit": 16.5e6}
    long_study.records = [
        replace(r, sample_ns=[round(factors.get(r.cell.column, 9e6))] * 12, sample_steps=[1] * 12)
        for r in long_study.records
    ]
    with figure_files.settings():
        figure = distributions.draw(report.make(long_study.records, long_study.manifest))
        figure.draw_without_rendering()
        for axes in figure.axes:
            boxes = [text.get_window_extent() for text in axes.get_xticklabels()]
            assert len(boxes) >= 2
            # Half a letter lies between two names.
            assert all(b.x0 - a.x1 > 0.03 * figure.dpi for a, b in itertools.pairwise(boxes))


def test_lines_of_notes_do_not_touch(long_study):
    """Letters with and without parts below the line: 7 points high."""
    with figure_files.settings():
        figure = break_even.draw(report.make(long_study.records, long_study.manifest))
        (notes,) = figure.texts
        lines = notes.get_text().count("\n") + 1
        assert notes.get_window_extent().height / figure.dpi * 72 / lines > 1.15 * 7
