"""Tests what all figures have in common: sizes, readable texts, what is left out, and which files are written."""

from __future__ import annotations

import functools
import importlib
import itertools
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.transforms import Bbox

from bench.host.reporting import outputs, report
from bench.host.reporting.figures import style
from bench.host.reporting.outputs import figures
from bench.host.reporting.renderers import figure_files

#: Peaks and work with which the cells of the study have rates below the roofs.
PEAKS = {"torch1/cpu": {"flops_per_s": {"float32": 1e13}, "bandwidths": [[1e6, 1e12], [1e9, 1e11]]}}


def full(study):
    """Give a study what every figure needs: peaks, several sizes, and trials."""
    study.run["peaks"] = PEAKS
    larger = [
        replace(
            r,
            cell=replace(r.cell, size="large"),
            sample_ns=[8 * ns for ns in r.sample_ns],
            work=r.work | {"useful_flops": 8e8, "compulsory_bytes": 4e6},
        )
        for r in study.records
    ]
    study.records = [replace(r, warmup_ns=[10**9, 10**8, 10**7]) for r in study.records + larger]
    study.run["planned"] = []
    return study


def wide(study):
    """Give a study 12 rows more and 16 columns more, with names that are long."""
    full(study)
    rows = [
        replace(r, cell=replace(r.cell, workload=f"{r.cell.workload}-{'with-a-long-name' * 3}-{number}"))
        for number in range(2)
        for r in study.records
    ]
    study.records += rows
    study.records += [
        replace(r, cell=replace(r.cell, environment=f"{r.cell.environment}-{number}"))
        for number in range(2)
        for r in study.records
    ]
    return study


def hostile(study):
    """Give a study names that are markup elsewhere."""
    full(study)
    names = {"mlp-train": "$\\frac{<b>&\"' 中\x1b", "dispatch": "W" * 300}
    study.records = [
        replace(r, cell=replace(r.cell, workload=names.get(r.cell.workload, r.cell.workload), mode=f"<i>{r.cell.mode}"))
        for r in study.records
    ]
    study.run["study"]["baseline"] = "torch1:<i>eager"
    return study


@functools.cache
def _reports(study_type) -> dict[str, report.Report]:
    studies = {"usual": full(study_type(6)), "wide": wide(study_type(2)), "hostile": hostile(study_type(10))}
    return {name: report.make(study.records, study.manifest) for name, study in studies.items()}


@pytest.fixture
def reports(long_study) -> dict[str, report.Report]:
    """Reports that several tests only read."""
    return _reports(type(long_study))


@functools.cache
def _written(study_type, folder: Path) -> Path:
    _reports(study_type)["usual"].write(folder, every_figure=True)
    return folder


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture
def written(long_study, shared_folder) -> Path:
    """The folder of a report with every figure, which several tests only read."""
    return _written(type(long_study), shared_folder)


@functools.cache
def _drawn(name, study_type, size):
    return draw(name, _reports(study_type)[size])


@pytest.fixture
def drawn(long_study):
    """Draws figures of these reports, which several tests only read."""
    return lambda name, size: _drawn(name, type(long_study), size)


def draw(name, made):
    with figure_files.settings():
        module = importlib.import_module(f"bench.host.reporting.figures.{name.replace('-', '_')}")
        figure = module.draw(made)
        if figure is not None:
            figure.draw_without_rendering()
        return figure


def notes(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts).replace("\n", " ")


def boxes(texts) -> list[Bbox]:
    return [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]


def tick_labels(axis) -> list:
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_visible()
    ]


@pytest.mark.parametrize("size", ["usual", "wide"])
@pytest.mark.parametrize("name", figures.NAMES)
def test_every_text_is_within_the_figure_and_no_tick_touches_another(drawn, name, size):
    figure = drawn(name, size)
    width, height = figure.get_size_inches()
    assert width in (style.WIDTH, style.TEXT_WIDTH)
    assert height <= 9.0
    ticks = [tick_labels(axis) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    titles = [axes.title for axes in figure.axes]
    legend = [text for one in figure.legends for text in one.get_texts()]
    texts = [*itertools.chain(*ticks), *titles, *legend, *figure.texts, *(axes.yaxis.label for axes in figure.axes)]
    for box in boxes(texts):
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= figure.bbox.x1 + 1
        assert box.y1 <= figure.bbox.y1 + 1
    for group in (*ticks, titles, [*legend, *figure.texts]):
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes(group), 2))


@pytest.mark.parametrize("name", figures.NAMES)
def test_cells_beside_other_programs_and_failed_ones_are_left_out_and_counted(long_study, name):
    full(long_study)
    long_study.end("jax:eager", "dispatch", "failed", "import", "no module")
    if name != "memory":
        long_study.change("tf2:eager", "dispatch", other_load=0.9)
    whole = notes(draw(name, report.make(long_study.records, long_study.manifest)))
    assert "1 cell is not shown: failed" in whole
    assert ("2 cells are not shown: the machine was busy" in whole) == (name != "memory")


def test_cells_without_a_time_are_counted_by_their_status(long_study):
    for workload in ("dispatch", "mlp-train"):
        long_study.end("jax:eager", workload, "unsupported", "import", "no such mode")
    long_study.end("jax:jit", "dispatch", "timeout", "first-call", "no answer in 300 s")
    whole = notes(draw("speedups", report.make(long_study.records, long_study.manifest)))
    assert "2 cells are not shown: unsupported 1 cell is not shown: timeout" in whole


@pytest.mark.parametrize("name", [name for name in figures.NAMES if name != "distributions"])
def test_the_legend_is_within_the_figure_and_has_whole_names(long_study, name):
    full(long_study)
    long_study.records = [
        replace(r, cell=replace(r.cell, mode=f"{r.cell.mode}-max-autotune-no-graph")) for r in long_study.records
    ]
    long_study.run["study"]["baseline"] = "torch1:eager-max-autotune-no-graph"
    figure = draw(name, report.make(long_study.records, long_study.manifest))
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "JAX 2.15 jit-max-autotune-no-graph" in shown
    assert len(figure.legends) == 1


@pytest.mark.long
def test_figures_of_both_widths_fit_the_columns_of_ieee(tmp_path, written):
    if not shutil.which("pdflatex") or subprocess.run(["kpsewhich", "IEEEtran.cls"], check=False).returncode:
        pytest.skip("pdflatex or IEEEtran is not installed")
    (tmp_path / "figures").symlink_to(written / "figures")
    column = rf"\begin{{figure}}\includegraphics{{figures/{figures.NAMES[0]}}}\end{{figure}}"
    both = [rf"\begin{{figure*}}\includegraphics{{figures/{name}}}\end{{figure*}}" for name in figures.NAMES[1:]]
    head = [r"\documentclass{IEEEtran}", r"\usepackage{graphicx}", r"\begin{document}", "Text."]
    (tmp_path / "paper.tex").write_text("\n".join([*head, column, *both, r"\end{document}"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=200)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in (tmp_path / "paper.log").read_text(errors="replace")


@pytest.mark.parametrize("name", figures.NAMES)
def test_nothing_is_drawn_of_a_run_without_its_baseline(long_study, name):
    long_study.run["study"]["baseline"] = "torch9:eager"
    assert draw(name, report.make(long_study.records, long_study.manifest)) is None


@pytest.mark.parametrize("name", [name for name in figures.NAMES if name != "distributions"])
def test_columns_look_the_same_in_every_figure(reports, drawn, name):
    found = reports["usual"].speed_ups
    expected = style.styles_of(found.columns, found.labels)
    labels = {label.text: expected[column] for column, label in found.labels.items()}
    figure = drawn(name, "usual")
    handles = {
        text.get_text(): line
        for text, line in zip(figure.legends[0].get_texts(), figure.legends[0].get_lines(), strict=True)
    }
    named = labels.keys() & handles.keys()
    assert len(named) >= 7
    for text in named:
        assert handles[text].get_marker() == labels[text].marker
        assert handles[text].get_markeredgecolor() == labels[text].colour
    assert len({(line.get_marker(), line.get_markerfacecolor()) for line in handles.values()}) >= len(named)


@pytest.mark.parametrize("name", [name for name in figures.NAMES if name != "distributions"])
def test_columns_that_a_figure_shows_of_many_are_told_apart_in_grey(reports, drawn, name):
    assert len(reports["wide"].speed_ups.columns) > len(style.MARKERS)
    named = [line for line in drawn(name, "wide").legends[0].get_lines() if line.get_markerfacecolor() != "white"]
    columns = [line for line in named if line.get_marker() not in ("None", "")]
    assert len(columns) > 1
    assert len({line.get_marker() for line in columns}) == len(columns)
    patterns = [str(line._dash_pattern) for line in columns if line.get_linestyle() != "None"]
    assert len(set(patterns)) == len(patterns)


def test_every_figure_is_drawn_where_asked_for_and_only_the_speed_ups_otherwise(tmp_path, reports, written):
    expected = {f"{name}.{ending}" for name in figures.NAMES for ending in ("pdf", "svg", "png")}
    assert {path.name for path in (written / "figures").iterdir()} == expected
    reports["usual"].write(tmp_path)
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {"speedups"}


def test_a_figure_of_an_earlier_report_is_drawn_again(tmp_path, reports, monkeypatch):
    monkeypatch.setattr(outputs, "BUILT_IN", [one for one in figures.OUTPUTS if one.name != "figures/roofline"])
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/memory.svg").write_text("of another run")
    reports["usual"].write(tmp_path)
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {"speedups", "memory"}
    assert "of another run" not in (tmp_path / "figures/memory.svg").read_text(encoding="utf-8")


def test_a_figure_of_an_earlier_report_does_not_stay_where_this_one_has_nothing_to_draw(
    tmp_path, long_study, monkeypatch
):
    monkeypatch.setattr(outputs, "BUILT_IN", [one for one in figures.OUTPUTS if one.name == "figures/scaling"])
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/scaling.pdf").write_text("of the run before it was resumed")
    written = report.make(long_study.records, long_study.manifest).write(tmp_path, every_figure=True)
    assert (written.paths, written.refused) == ([], [])
    assert list((tmp_path / "figures").iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("name", figures.NAMES)
def test_hostile_names_stay_text(tmp_path, reports, name):
    output = next(one for one in figures.OUTPUTS if one.name == f"figures/{name}")
    output.write_whole(reports["hostile"], tmp_path)
    text = (tmp_path / f"figures/{name}.svg").read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "<i>" not in text
