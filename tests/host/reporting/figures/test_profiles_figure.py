"""Tests that the figure of profiles, ``ranking.csv`` and the page show the same profiles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from speedup_figures import below

from bench.host.analysis.ranking import FACTORS
from bench.host.reporting import report
from bench.host.reporting.figures import profiles
from bench.host.reporting.page import content


@pytest.fixture
def training_only(long_study):
    """A run with a mode for training only, which is the fastest there, and with a row of one thread."""
    long_study.records = [
        r for r in long_study.records if r.cell.column != "jax:jit" or r.cell.workload == "mlp-train"
    ] + [replace(r, cell=replace(r.cell, threads=1)) for r in long_study.records if r.cell.workload == "dispatch"]
    long_study.run["planned"] = []
    return report.make(long_study.records, long_study.manifest)


def share_of(line, factor: float) -> float:
    """Return where a step line is at a factor."""
    return [share for x, share in zip(line.get_xdata(), line.get_ydata(), strict=True) if x <= factor][-1]


def test_the_figure_shows_the_profiles_of_ranking_csv(training_only):
    figure = profiles.draw(training_only)
    (axes,) = figure.axes
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    lines = dict(zip(names, (line for line in axes.get_lines() if len(line.get_xdata()) > 2), strict=True))
    shown = {
        training_only.speed_ups.labels[place.column].text: place.profile
        for place in training_only.rankings
        if place.profile
    }
    assert lines.keys() == shown.keys()
    assert len(lines) == 7
    last = max(lines["PyTorch 1.13 eager"].get_xdata())
    for name, profile in shown.items():
        for factor in (one for one in FACTORS if one < last):
            assert share_of(lines[name], factor) == pytest.approx(profile.share(factor))
    assert axes.get_title() == "cpu, 2 threads: 3 rows"
    assert shown["PyTorch 2.15 compile"].share(1.0) == pytest.approx(2 / 3)


def test_the_figure_says_which_columns_and_rows_it_leaves_out(training_only):
    notes = below(profiles.draw(training_only)).replace("\n", " ")
    assert "the best of all columns in the row" in notes
    assert "not drawn, too few rows: JAX 2.15 jit" in notes
    assert "not drawn: 1 row of another device or number of threads" in notes
    assert "details.csv" not in notes


def test_columns_without_room_are_in_ranking_csv(training_only, monkeypatch):
    assert "ranking.csv" not in below(profiles.draw(training_only))
    monkeypatch.setattr(profiles, "MOST_LINES", 3)
    assert "profiles of more columns are in ranking.csv" in below(profiles.draw(training_only))


def test_the_page_has_the_times_of_the_profiles(training_only):
    page = content.of_report(training_only)
    place = {name: number for number, name in enumerate(page["fields"])}
    ids = [column["id"] for column in page["columns"]]
    rows: dict[int, dict[str, float]] = {}
    for cell in page["cells"]:
        rows.setdefault(cell[place["row"]], {})[ids[cell[place["column"]]]] = cell[place["common"]]
    two = [own for number, own in rows.items() if page["rows"][number]["threads"] == "2"]
    for ranked in (one for one in training_only.rankings if one.profile):
        factors = sorted(own[ranked.column] / min(own.values()) for own in two)
        assert factors == pytest.approx(ranked.profile.factors, rel=1e-4)
