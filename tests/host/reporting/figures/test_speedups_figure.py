"""Tests the figure of speed-ups: what is drawn, how it looks the same everywhere, and that it is written whole."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import replace

import matplotlib
import pytest

from bench.host.reporting import report
from bench.host.reporting.figures import rows, speedups, style
from bench.host.reporting.outputs import figures
from bench.host.reporting.tables.interest import best_of_versions, dispensability
from bench.host.reporting.words.labels import Label
from bench.host.statistics.bootstrap import Estimate

FILES = ["figures/speedups.pdf", "figures/speedups.svg", "figures/speedups.png"]


OUTPUT = next(one for one in figures.OUTPUTS if one.name == "figures/speedups")


def drawn(study):
    return speedups.draw(report.make(study.records, study.manifest))


def below(figure) -> str:
    """Return the notes of a figure."""
    return "\n".join(text.get_text() for text in figure.texts)


def points(figure) -> list:
    return [line for line in figure.axes[0].get_lines() if line.get_marker() not in ("None", "", None)]


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


def test_where_columns_are_too_many_those_that_a_reader_misses_most_are_drawn(long_study, monkeypatch):
    order = dispensability(report.make(long_study.records, long_study.manifest).speed_ups)
    monkeypatch.setattr(speedups, "MOST_COLUMNS", 3)
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


def test_a_framework_has_one_colour_a_column_one_marker():
    columns = ["a:eager", "b:eager", "b:compile", "j:jit"]
    labels = dict(
        zip(
            columns,
            [
                Label("PyTorch", "1.13", "eager"),
                Label("PyTorch", "2.15", "eager"),
                Label("PyTorch", "2.15", "compile"),
                Label("JAX", "0.10", "jit"),
            ],
            strict=True,
        )
    )
    found = style.styles_of(columns, labels)
    assert found["b:eager"].colour == found["b:compile"].colour == matplotlib.colors.to_rgb(style.COLOURS["PyTorch"])
    assert sum(found["a:eager"].colour) > sum(found["b:eager"].colour)
    assert len({one.marker for one in found.values()}) == 4
    assert style.styles_of(columns[::-1], labels)["j:jit"].colour == found["j:jit"].colour


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


def grown(study, sizes: int):
    """Give the study so many sizes of ``dispatch``, each a row with all columns."""
    of = [record for record in study.records if record.cell.workload == "dispatch"]
    study.records = [replace(r, cell=replace(r.cell, size=f"s{number}")) for number in range(sizes) for r in of]
    study.run["planned"] = []
    return study


def names_of(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.get_yticklabels()]


def named_columns(figure) -> list[str]:
    return [
        text.get_text() for legend in figure.legends for text in legend.get_texts() if "hollow" not in text.get_text()
    ]


def test_a_large_study_has_every_row_with_the_best_column_of_each_version(long_study):
    figure = drawn(grown(long_study, 40))
    found = report.make(long_study.records, long_study.manifest).speed_ups
    assert len(names_of(figure)) == len(found.rows) + 1 == 41
    best = best_of_versions(found, [column for column in found.columns if column != found.baseline])
    assert named_columns(figure) == [found.labels[column].text for column in best]
    versions = [(found.labels[column].product, found.labels[column].version) for column in best]
    assert len(set(versions)) == len(versions) < len(found.columns) - 1
    assert "one column of each version; all are in details.csv" in below(figure)
    assert "more rows" not in below(figure)


def test_a_large_study_of_one_version_has_its_modes(long_study):
    long_study.records = [r for r in long_study.records if r.cell.environment == "torch1"]
    figure = drawn(grown(long_study, 61))
    found = report.make(long_study.records, long_study.manifest).speed_ups
    others = [found.labels[column].text for column in found.columns if column != found.baseline]
    assert named_columns(figure) == others != []
    assert "one column of each version" not in below(figure)
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
