from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.compilation import notes_on_compilation
from bench.host.analysis.processes import timed_processes
from bench.host.analysis.run_results import result_of
from bench.host.reporting.words.notes import in_words


@pytest.mark.parametrize(
    ("compilation", "notes"),
    [
        ({}, ()),
        ({"compiled": "forward", "graphs": 1, "graph_breaks": 0, "traces": 1, "recompiled_while_timing": 0}, ()),
        ({"graphs": 3, "traces": 2}, ("compiled in 3 graphs and 2 traces",)),
        (
            {"graphs": 2, "graph_breaks": 1, "graph_break_reasons": ["call to print()"]},
            ("compiled in 2 graphs, 1 graph break (call to print())",),
        ),
        ({"graph_breaks": 2}, ("2 graph breaks",)),
        (
            {"recompiled_while_timing": 2},
            ("recompiled 4× while timing, in 2 of 3 processes: the time includes compilation",),
        ),
    ],
)
def test_what_a_compiler_did_is_told_where_it_is_unexpected(long_study, compilation, notes):
    first, second, third = long_study.records[:3]
    records = [replace(r, compilation=compilation) for r in (first, second)] + [third]
    assert in_words(notes_on_compilation(records)) == notes


def test_a_cell_that_recompiled_while_timing_is_irregular(long_study):
    cell = long_study.find("jax:jit", "mlp-train")
    records = [record for record in long_study.records if record.cell == cell]
    assert not result_of(cell, records, timed_processes(records)).irregular
    records[3] = replace(records[3], compilation={"recompiled_while_timing": 1})
    assert result_of(cell, records, timed_processes(records)).irregular


def test_what_was_compiled_is_a_setting(long_study):
    cell = long_study.find("jax:jit", "mlp-train")
    records = [replace(r, compilation={"compiled": "forward"}) for r in long_study.records if r.cell == cell]
    assert result_of(cell, records, timed_processes(records)).settings["compiled"] == "forward"
