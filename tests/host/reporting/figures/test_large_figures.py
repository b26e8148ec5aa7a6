"""Tests what the figure of speed-ups shows of a study that has more rows or columns than fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from speedup_figures import below, drawn, grown, named_columns, names_of

from bench.host.reporting import report
from bench.host.reporting.figures import speedups, style

pytestmark = pytest.mark.long


def test_columns_are_all_drawn_in_a_wide_figure_where_they_fit(long_study):
    figure = drawn(grown(long_study, 40))
    found = report.make(long_study.records, long_study.manifest).speed_ups
    assert figure.get_size_inches()[0] == style.TEXT_WIDTH
    assert len(names_of(figure)) == len(found.rows) + 1 == 41
    assert named_columns(figure) == [found.labels[column].text for column in found.columns[1:]]
    assert "fastest mode" not in below(figure)


def test_a_large_study_has_the_fastest_mode_of_each_version_in_every_row(long_study):
    grown(long_study, 61)
    # In one row the mode that is the best on average is bad.
    long_study.records = [
        replace(r, sample_ns=[ns // 8 for ns in r.sample_ns])
        if (r.cell.column, r.cell.size) == ("torch2:eager", "s60")
        else r
        for r in long_study.records
    ]
    made = report.make(long_study.records, long_study.manifest)
    found, figure = made.speed_ups, speedups.draw(made)
    assert len(names_of(figure)) == len(found.rows) + 1 == 62
    assert named_columns(figure) == [
        "PyTorch 1.13, best of eager and torchscript",
        "PyTorch 2.15, best of eager and compile",
        "TensorFlow 2.15, best of eager and xla",
        "JAX 2.15, best of eager and jit",
    ]
    notes = below(figure).replace("\n", " ")
    assert "the fastest mode of each version in each row, chosen after measuring" in notes
    assert "all modes are in details.csv" in notes
    row = found.rows[-1]
    expected = max(row.cells[column].speed_up.value for column in ("torch2:eager", "torch2:compile"))
    assert expected == row.cells["torch2:eager"].speed_up.value
    shown = [
        line.get_xdata()[0]
        for line in figure.axes[1].get_lines()
        if line.get_marker() not in ("None", "", None) and round(line.get_ydata()[0]) == 29
    ]
    assert expected in shown
    assert row.cells["torch2:compile"].speed_up.value not in shown


def test_a_withheld_mode_that_might_have_been_the_fastest_is_counted(long_study):
    grown(long_study, 61)
    long_study.records = [
        replace(r, other_load=0.9) if (r.cell.column, r.cell.size) == ("torch2:compile", "s7") else r
        for r in long_study.records
    ]
    assert "1 cell is not shown: the machine was busy" in below(drawn(long_study)).replace("\n", " ")


def test_the_mean_of_best_modes_is_that_of_the_ranking(long_study):
    made = report.make(grown(long_study, 61).records, long_study.manifest)
    figure = speedups.draw(made)
    best = made.ranked.track("cpu", 2).best_modes
    shown = sorted(
        line.get_xdata()[0]
        for line in figure.axes[1].get_lines()
        if line.get_marker() not in ("None", "", None) and round(line.get_ydata()[0]) == 30
    )
    assert shown == pytest.approx(sorted(1.0 / one.ratio.value for one in best.versions))
    assert "means: the mode of each process is chosen by the others" in below(figure).replace("\n", " ")


def test_the_caption_does_not_call_the_choice_of_single_processes_one_of_others(long_study):
    grown(long_study, 61)
    long_study.records = [record for record in long_study.records if record.round == 0]
    notes = below(drawn(long_study)).replace("\n", " ")
    assert "means: single processes choose their own mode, which flatters" in notes
    assert "chosen by the others" not in notes


def test_a_large_study_of_one_version_has_its_modes(long_study):
    long_study.records = [r for r in long_study.records if r.cell.environment == "torch1"]
    figure = drawn(grown(long_study, 61))
    found = report.make(long_study.records, long_study.manifest).speed_ups
    others = [found.labels[column].text for column in found.columns if column != found.baseline]
    assert named_columns(figure) == others != []
    assert "fastest mode" not in below(figure)
    assert "in details.csv" not in below(figure)


def test_rows_too_many_for_a_column_stand_in_two_with_one_scale(long_study):
    figure = drawn(grown(long_study, 61))
    left, right = figure.axes
    assert figure.get_size_inches()[0] == style.TEXT_WIDTH
    assert left.get_xlim() == right.get_xlim()
    assert names_of(figure)[-1].startswith("geometric mean")
    assert len(left.get_yticklabels()) == len(right.get_yticklabels()) == 31
    # The bands of both are equally high, so that names and points stand side by side.
    assert left.get_ylim() == right.get_ylim()
    for axes in figure.axes:
        heights = [line.get_ydata()[0] for line in axes.get_lines() if line.get_marker() not in ("None", "", None)]
        assert {round(height) for height in heights} == set(range(31))


@pytest.mark.parametrize("sizes", [12, 40, 200])
def test_many_rows_and_columns_stay_on_a_page(long_study, sizes):
    figure = drawn(grown(long_study, sizes))
    assert figure.get_size_inches()[1] <= 9.2
    assert ("more rows and columns are in details.csv" in below(figure)) == (sizes == 200)


def test_a_row_without_a_speed_up_of_the_columns_is_left_out_of_a_large_figure_and_counted(long_study):
    grown(long_study, 40)
    long_study.records = [r for r in long_study.records if r.cell.size != "s7" or r.cell.column == "torch1:eager"]
    figure = drawn(long_study)
    assert len(names_of(figure)) == 39 + 1
    assert "1 row without a speed-up of these is left out" in below(figure)
