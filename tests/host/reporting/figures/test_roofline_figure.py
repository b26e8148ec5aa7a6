"""Tests that the rooflines can be read: whose line a letter names, and what each peak is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from speedup_figures import below

from bench.host.reporting import report
from bench.host.reporting.figures import roofline

BANDWIDTHS = [[1e6, 1e12], [1e9, 1e11]]


def drawn(study, **flops_per_s: float):
    study.run["peaks"] = {"torch1/cpu": {"flops_per_s": flops_per_s, "bandwidths": BANDWIDTHS}}
    return roofline.draw(report.make(study.records, study.manifest))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12).map(sorted))
def test_letters_stand_apart_in_their_order_above_the_axis(places):
    found = roofline.spread(places, 0.05)
    assert all(b - a >= 0.05 - 1e-9 for a, b in itertools.pairwise(found))
    assert min(found) >= 0.0
    assert max(found) <= 1.0 + 1e-9


@given(st.floats(0.3, 0.7), st.integers(1, 6))
def test_letters_of_rows_that_are_close_stay_around_them(place, count):
    found = roofline.spread([place] * count, 0.05)
    assert sum(found) / count == pytest.approx(place)


def test_letters_with_room_stand_above_their_own_lines():
    assert roofline.spread([0.1, 0.5, 0.9], 0.05) == pytest.approx([0.1, 0.5, 0.9])


def test_a_line_leads_from_each_letter_down_to_the_points_of_its_row(long_study):
    flops = {"dispatch": 1e8, "mlp-train": 1.1e8, "catdog-cnn-train": 1.2e8}
    long_study.records = [
        replace(r, work=r.work | {"useful_flops": flops[r.cell.workload], "compulsory_bytes": 1e6})
        for r in long_study.records
    ]
    (axes,) = drawn(long_study, float32=1e13).axes
    letters = {text.get_text(): text for text in axes.texts}
    assert list(letters) == ["a", "b", "c"]
    assert [text.xy[0] for text in letters.values()] == pytest.approx(sorted(one / 1e6 for one in flops.values()))
    ends = [segment for lines in axes.collections for segment in lines.get_segments()]
    top = axes.get_ylim()[1]
    assert [(x, high) for (x, _low), (_x, high) in ends] == [(text.xy[0], pytest.approx(top)) for text in axes.texts]
    # The middle one of three that are close stands above its own line.
    low, high = axes.get_xlim()
    places = axes.transAxes.inverted().transform(axes.transData.transform([(110.0, 1.0)]))
    assert low < 110.0 < high
    assert letters["b"].get_position()[0] == pytest.approx(places[0][0], abs=0.01)


def test_each_peak_is_named_below_the_axes(long_study):
    figure = drawn(long_study, float32=1e13)
    assert figure.axes[0].get_title() == "cpu, float32, 2 threads"
    notes = below(figure)
    assert "peaks: 10000 GFLOP/s, cache 1000 GB/s, memory 100 GB/s" in notes
    assert "useful FLOP per compulsory byte" in notes


def test_the_peaks_of_two_panels_have_their_names_and_the_titles_have_room(long_study):
    long_study.records += [replace(r, cell=replace(r.cell, precision="bfloat16")) for r in long_study.records]
    figure = drawn(long_study, float32=1e13, bfloat16=2e13)
    assert [axes.get_title() for axes in figure.axes] == ["cpu, float32, 2 threads", "cpu, bfloat16, 2 threads"]
    assert "cpu, bfloat16, 2 threads: 20000 GFLOP/s, cache 1000 GB/s, memory 100 GB/s" in below(figure)
