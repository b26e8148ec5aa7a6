"""Tests the figure of speed-ups: what is drawn, and that it is written whole."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import replace

import matplotlib
import pytest
from speedup_figures import below, drawn, grown, points

from bench.host.reporting import report
from bench.host.reporting.figures import rows, series, speedups, style
from bench.host.reporting.outputs import figures
from bench.host.reporting.tables.dispensability import dispensability
from bench.host.statistics.bootstrap import Estimate

FILES = ["figures/speedups.pdf", "figures/speedups.svg", "figures/speedups.png"]


OUTPUT = next(one for one in figures.OUTPUTS if one.name == "figures/speedups")


def test_each_speed_up_is_a_point_with_its_interval_on_a_logarithmic_axis(long_study):
    figure = drawn(long_study)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "dispatch",
        "mlp-train",
        "catdog-cnn-train",
        "geometric mean",
    ]
    assert len(points(figure)) == 7 * 4
    values = [line.get_xdata()[0] for line in points(figure) if line.get_marker() == points(figure)[2].get_marker()]
    assert values == pytest.approx([1 / 0.71] * 4, rel=0.05)
    assert figure.get_size_inches()[0] == style.WIDTH


def test_the_line_of_the_baseline_is_above_the_grid_which_has_a_line_there_too(long_study):
    (axes,) = drawn(long_study).axes
    lines = [line for line in axes.get_lines() if list(line.get_xdata()) == [1.0, 1.0]]
    assert axes.xaxis.get_zorder() < min(line.get_zorder() for line in lines) < 2


def test_where_columns_are_too_many_those_that_a_reader_misses_most_are_drawn(long_study, monkeypatch):
    order = dispensability(report.make(long_study.records, long_study.manifest).speed_ups)
    monkeypatch.setattr(series, "MOST_COLUMNS", 3)
    figure = drawn(long_study)
    assert len(points(figure)) == 3 * 4
    found = report.make(long_study.records, long_study.manifest).speed_ups
    kept = sorted(found.columns, key=order.__getitem__)[1:4]
    drawn_values = {round(line.get_xdata()[0], 6) for line in points(figure)}
    assert drawn_values >= {round(found.means[column], 6) for column in kept}
    assert kept != list(found.columns[1:4])


@pytest.mark.parametrize("count", range(1, style.MOST_COLUMNS + 1))
def test_a_point_is_nearer_to_its_own_row_than_to_a_point_of_the_next(count):
    places = [rows.place_of(number, count) for number in range(count)]
    assert places == pytest.approx([-place for place in places[::-1]])
    assert max(map(abs, places)) <= 0.33
    # A band and the one below it, where a band is 1 high.
    assert 1.0 - (places[-1] - places[0]) > 1.5 * max((b - a for a, b in itertools.pairwise(places)), default=0.0)


def test_noisy_points_are_hollow_and_withheld_ones_absent_with_a_note(long_study):
    clean = [line for line in points(drawn(long_study)) if line.get_markerfacecolor() != "white"]
    assert clean
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    figure = drawn(long_study)
    assert len(points(figure)) == 7 * 3 - 1 + 6  # with the means of the columns that have all three rows
    assert "1 cell is not shown: the machine was busy" in below(figure)
    for line in points(figure):
        assert line.get_markerfacecolor() in ("white", line.get_markeredgecolor())


def intervals(figure, band: int) -> list:
    """Return the lines of a band that are intervals."""
    lines = [line for line in figure.axes[0].get_lines() if len(set(line.get_xdata())) == 2]
    return [line for line in lines if abs(line.get_ydata()[0] - band) < 0.5]


def test_means_have_the_intervals_of_the_ranking(long_study):
    made = report.make(long_study.records, long_study.manifest)
    shown = sorted(tuple(line.get_xdata()) for line in intervals(speedups.draw(made), 3))
    standings = [place.standing for place in made.rankings if not place.is_baseline]
    expected = sorted((1.0 / one.ratio.high, 1.0 / one.ratio.low) for one in standings)
    assert [end for ends in shown for end in ends] == pytest.approx([end for ends in expected for end in ends])
    assert "above 1 is faster; lines are intervals" in below(speedups.draw(made)).split("\n")


def test_each_number_of_threads_has_means_of_its_own(long_study):
    long_study.records += [
        replace(
            r,
            cell=replace(r.cell, threads=1, workload=f"{r.cell.workload}-1"),
            sample_ns=[n * (9 if r.cell.column == "torch1:eager" else 18) for n in r.sample_ns],
        )
        for r in long_study.records
        if r.cell.environment != "jax"
    ]
    found = report.make(long_study.records, long_study.manifest).speed_ups
    figure = drawn(long_study)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names[-2:] == ["geometric mean, 2 threads", "geometric mean, 1 thread"]
    bands = [round(line.get_ydata()[0]) for line in points(figure)]
    assert bands.count(len(names) - 2) == 7
    assert bands.count(len(names) - 1) == 5
    for track, band in zip(found.tracks, (len(names) - 2, len(names) - 1), strict=True):
        shown = sorted(line.get_xdata()[0] for line in points(figure) if round(line.get_ydata()[0]) == band)
        assert shown == pytest.approx(sorted(mean for column, mean in track.means.items() if column != found.baseline))
    (apart,) = [line for line in figure.axes[0].get_lines() if set(line.get_ydata()) == {len(names) - 2.5}]
    assert list(apart.get_xdata()) == [0, 1]


def test_a_mean_of_single_processes_is_as_hollow_as_its_rows_and_the_caption_says_so(long_study):
    long_study.records = [record for record in long_study.records if record.round == 0]
    figure = drawn(long_study)
    assert all(line.get_markerfacecolor() == "white" for line in points(figure))
    assert {round(line.get_ydata()[0]) for line in points(figure)} == {0, 1, 2, 3}
    assert not any(intervals(figure, band) for band in range(3))
    assert intervals(figure, 3)
    assert "one process each, so only means have intervals" in below(figure).replace("\n", " ")


def test_the_caption_says_that_some_rows_have_no_interval(long_study):
    long_study.records = [r for r in long_study.records if r.round == 0 or r.cell.workload != "mlp-train"]
    assert "lines are intervals, which single processes lack" in below(drawn(long_study)).replace("\n", " ")


def test_the_same_report_gives_the_same_bytes_in_a_folder_of_its_own(tmp_path, long_study):
    made = report.make(long_study.records, long_study.manifest)
    before = dict(matplotlib.rcParams)
    for name in ("one", "two"):
        written = OUTPUT.write_whole(made, tmp_path / name)
        assert written == [tmp_path / name / file for file in FILES]
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["figures"]
    assert dict(matplotlib.rcParams) == before
    pdf = (tmp_path / "one/figures/speedups.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf


def test_a_figure_that_fails_leaves_the_old_one(tmp_path, long_study, monkeypatch):
    made = report.make(long_study.records, long_study.manifest)
    OUTPUT.write_whole(made, tmp_path)
    before = (tmp_path / FILES[0]).read_bytes()
    monkeypatch.setattr(speedups, "draw", lambda report: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        OUTPUT.write_whole(made, tmp_path)
    assert (tmp_path / FILES[0]).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_hostile_names_are_drawn_as_they_are(tmp_path, long_study):
    names = {"mlp-train": "$\\frac{<b>&\"' 中\x1b", "dispatch": "W" * 300}
    long_study.records = [
        replace(r, cell=replace(r.cell, workload=names.get(r.cell.workload, r.cell.workload)))
        for r in long_study.records
    ]
    long_study.run["planned"] = []
    made = report.make(long_study.records, long_study.manifest)
    OUTPUT.write_whole(made, tmp_path)
    assert "<b>" not in (tmp_path / FILES[1]).read_text(encoding="utf-8")
    shown = [text.get_text() for text in speedups.draw(made).axes[0].get_yticklabels()]
    assert all(len(name) <= 30 for name in shown)
    assert not any("\x1b" in name for name in shown)


def test_nothing_is_drawn_without_a_speed_up(tmp_path, long_study):
    long_study.records = [r for r in long_study.records if r.cell.column == "torch1:eager"]
    long_study.run["planned"] = []
    made = report.make(long_study.records, long_study.manifest)
    assert OUTPUT.write_whole(made, tmp_path) == []


def test_nothing_is_drawn_of_a_large_study_without_a_speed_up(long_study):
    long_study.records = [r for r in long_study.records if r.cell.column == "torch1:eager"]
    made = report.make(grown(long_study, 61).records, long_study.manifest)
    assert made.speed_ups is None or speedups.draw(made) is None


def test_an_interval_far_beyond_all_points_ends_in_an_arrow_at_the_edge():
    found = Estimate(2.0, 0.001, 4000.0, 3)
    points = [
        speedups.Mark(0, "a", found, hollow=False),
        speedups.Mark(1, "a", Estimate(8.0, 7.0, 9.0, 3), hollow=False),
    ]
    _figure, axes = rows.make_frame(["one", "two"], 1)
    assert speedups._draw_points([axes], points, ["a"], {"a": style.Style((0.0, 0.0, 0.0), "o")})
    low, high = axes.get_xlim()
    assert 1.0 / 4.0 < low < 1.0
    assert 8.0 < high < 4.0 * 8.0
    arrows = [float(one.get_offsets()[0][0]) for one in axes.collections]
    assert arrows == [1.0 / speedups.BEYOND, 8.0 * speedups.BEYOND]
    assert not speedups._draw_points([axes], points[1:], ["a"], {"a": style.Style((0.0, 0.0, 0.0), "o")})


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, bench.host.reporting.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_fonts_are_outlines_in_the_pdf(tmp_path, long_study):
    made = report.make(long_study.records, long_study.manifest)
    OUTPUT.write_whole(made, tmp_path)
    assert re.search(rb"/FontFile2", (tmp_path / FILES[0]).read_bytes())


def test_time_ratios_are_the_inverse_and_lower_is_faster(long_study):
    def values(figure) -> list[float]:
        return [line.get_xdata()[0] for line in points(figure)]

    def ends(figure) -> list[tuple[float, float]]:
        return [tuple(line.get_xdata()) for band in range(4) for line in intervals(figure, band)]

    speed_ups = drawn(long_study)
    long_study.run["study"]["ratios"] = "ratio"
    ratios = drawn(long_study)
    assert values(ratios) == pytest.approx([1 / value for value in values(speed_ups)])
    assert ends(ratios) == [pytest.approx((1 / high, 1 / low)) for low, high in ends(speed_ups)]
    assert len(ends(ratios)) > 20
    assert below(ratios).split("\n")[:2] == [
        "time over that of PyTorch 1.13 eager",
        "below 1 is faster; lines are intervals",
    ]
