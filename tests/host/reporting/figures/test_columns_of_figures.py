"""Tests which columns the figures of a large run show, and that a legend names only what is drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from speedup_figures import below, grown, named_columns, names_of

from bench.host.reporting import report
from bench.host.reporting.figures import break_even, memory, panels, roofline, rows, scaling, startup, style


@pytest.fixture
def many_modes(long_study):
    """A run whose first columns are eight modes of PyTorch 1.13, before other versions and frameworks."""
    own = [r for r in long_study.records if r.cell.column == "torch1:eager"]
    for number in range(7):
        long_study.records += [replace(r, cell=replace(r.cell, mode=f"eager-{number}")) for r in own]
    long_study.run["planned"] = []
    return report.make(long_study.records, long_study.manifest)


@pytest.mark.parametrize("module", [startup, break_even])
def test_lines_show_the_fastest_mode_of_each_version(many_modes, module):
    figure = module.draw(many_modes)
    names = named_columns(figure)
    assert len(names) == 8
    assert {"PyTorch 2.15 compile", "JAX 2.15 jit"} <= set(names)
    assert any(name.startswith("TensorFlow") for name in names)
    assert "more rows and columns are in details.csv" in below(figure)


def test_a_column_without_room_leaves_the_others_in_their_order(many_modes):
    found = many_modes.speed_ups
    _rows, columns, whole = panels.choose(found, found.columns, 4)
    assert columns == [column for column in found.columns if column in columns]
    assert len(columns) == 4
    assert columns[0] == found.baseline
    assert not whole


def test_a_legend_names_only_columns_with_a_line(long_study):
    """A column may have a time, and no cold first call that a break-even needs."""
    long_study.change("jax:jit", first_call_cache="warm")
    figure = break_even.draw(report.make(long_study.records, long_study.manifest))
    assert "JAX 2.15 jit" not in named_columns(figure)
    assert len(named_columns(figure)) == 6
    assert "details.csv" not in below(figure)


def test_the_legend_of_sizes_names_only_columns_with_several(long_study):
    sizes = [
        replace(r, cell=replace(r.cell, size="large"), work=r.work | {"useful_flops": 8e8})
        for r in long_study.records
        if r.cell.workload == "mlp-train" and r.cell.column != "jax:jit"
    ]
    long_study.records = [r for r in long_study.records if r.cell.workload != "mlp-train" or r.cell.column != "jax:jit"]
    long_study.records += sizes
    long_study.run["planned"] = []
    figure = scaling.draw(report.make(long_study.records, long_study.manifest))
    assert len(figure.axes) == 1
    assert len(named_columns(figure)) == 7
    assert "JAX 2.15 jit" not in named_columns(figure)
    assert "details.csv" not in below(figure)


def test_lines_of_sizes_show_the_fastest_mode_of_each_version(long_study):
    own = [r for r in long_study.records if r.cell.column == "torch1:eager"]
    for number in range(7):
        long_study.records += [replace(r, cell=replace(r.cell, mode=f"eager-{number}")) for r in own]
    long_study.records += [
        replace(r, cell=replace(r.cell, size="large"), work=r.work | {"useful_flops": 8e8}) for r in long_study.records
    ]
    long_study.run["planned"] = []
    assert "JAX 2.15 jit" in named_columns(scaling.draw(report.make(long_study.records, long_study.manifest)))


@pytest.mark.parametrize(("sizes", "shown", "columns"), [(8, 8, 8), (52, 52, 6), (70, 52, 6)])
def test_memory_has_all_rows_that_fit_on_a_page(long_study, sizes, shown, columns):
    figure = memory.draw(report.make(grown(long_study, sizes).records, long_study.manifest))
    assert len(names_of(figure)) == shown
    assert len(named_columns(figure)) == columns
    assert {"PyTorch 2.15 compile", "JAX 2.15 jit"} <= set(named_columns(figure))
    assert figure.get_size_inches()[1] <= 9.0
    assert ("more rows and columns are in details.csv" in below(figure)) == (sizes > 8)
    assert len({axes.get_xlim() for axes in figure.axes}) == 1


def test_memory_of_many_rows_is_as_wide_as_the_text(long_study):
    made = report.make(grown(long_study, 20).records, long_study.manifest)
    assert rows.most_rows(8) < 20
    assert memory.draw(made).get_size_inches()[0] == style.TEXT_WIDTH
    assert len(named_columns(memory.draw(made))) == 8


def test_a_roofline_shows_the_fastest_mode_of_each_version(many_modes, long_study):
    long_study.run["peaks"] = {"torch1/cpu": {"flops_per_s": {"float32": 1e13}, "bandwidths": [[1e6, 1e12]]}}
    figure = roofline.draw(report.make(long_study.records, long_study.manifest))
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"PyTorch 2.15 compile", "JAX 2.15 jit"} <= set(names)
