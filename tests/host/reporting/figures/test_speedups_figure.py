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
from bench.host.reporting.figures import legend, rows, series, speedups, style
from bench.host.reporting.outputs import figures
from bench.host.reporting.tables.interest import dispensability
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


def test_names_that_differ_at_their_ends_are_cut_so_that_they_still_differ():
    names = [
        "turbulent-kinetic-energy, tiny",
        "turbulent-kinetic-energy, tiny, float64",
        "turbulent-kinetic-energy, tiny, bfloat16",
        "layernorm-softmax-backward-with-a-tail",
        "layernorm-softmax-backward-with-a-trail",
        "W" * 300,
        "W" * 301,
    ]
    shown = legend.cut_names(names)
    assert shown[:3] == [
        "turbulent-kinetic-energy, tiny",
        "turbulent-kine…, tiny, float64",
        "turbulent-kin…, tiny, bfloat16",
    ]
    assert len(set(shown)) == len(names)
    assert all(len(name) <= legend.NAME for name in shown)
    assert legend.cut_names(shown) == shown
    assert legend.cut_names(["gemm", "gemm"]) == ["gemm", "gemm"]


def test_a_mode_has_its_marker_in_every_study_and_an_older_version_of_it_another():
    labels = {
        "a:eager": Label("PyTorch", "1.13", "eager"),
        "a:torchscript": Label("PyTorch", "1.13", "torchscript"),
        "b:eager": Label("PyTorch", "2.15", "eager"),
        "b:compile": Label("PyTorch", "2.15", "compile"),
        "b:own": Label("PyTorch", "2.15", "of-others"),
        "j:jit": Label("JAX", "0.10", "jit"),
    }
    whole = style.styles_of(list(labels), labels)
    for own in (["b:compile", "j:jit"], ["j:jit", "b:eager", "b:compile"], ["a:torchscript", "b:own", "b:compile"]):
        found = style.styles_of(own, labels)
        same = [column for column in own if column != "b:own"]
        assert {column: found[column].marker for column in same} == {column: whole[column].marker for column in same}
        assert len({one.marker for one in found.values()}) == len(own)
    assert whole["a:eager"].marker != whole["b:eager"].marker
    assert set("".join(style.MARKER_OF.values())) <= set(style.MARKERS)


def test_a_framework_keeps_its_colour_under_the_name_of_an_environment():
    labels = {
        "keras-tf:fit": Label("keras-tf", "3.15", "fit", "Keras"),
        "keras-jax:fit": Label("keras-jax", "3.15", "fit", "Keras"),
        "keras2:fit": Label("Keras", "2.12", "fit", "Keras"),
    }
    new, also_new, old = style.styles_of(list(labels), labels).values()
    assert new.colour == also_new.colour == matplotlib.colors.to_rgb(style.COLOURS["Keras"])
    assert sum(old.colour) > sum(new.colour)


def test_other_peoples_frameworks_have_colours_that_no_framework_of_the_figure_has():
    labels = {name: Label(name, "1.0", "run", name) for name in ("Keras", "Flax", "Toy", "Game")}
    found = style.styles_of(list(labels), labels)
    assert len({one.colour for one in found.values()}) == 4
    assert style.COLOURS["NumPy"] != style.COLOURS["Haiku"]


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
    expected = max(row.places[column].speed_up.value for column in ("torch2:eager", "torch2:compile"))
    assert expected == row.places["torch2:eager"].speed_up.value
    shown = [
        line.get_xdata()[0]
        for line in figure.axes[1].get_lines()
        if line.get_marker() not in ("None", "", None) and round(line.get_ydata()[0]) == 29
    ]
    assert expected in shown
    assert row.places["torch2:compile"].speed_up.value not in shown


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
    best = made.ranked.contest("cpu", 2).best_modes
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
