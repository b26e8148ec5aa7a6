"""Tests what stands above a table, and what is left for the names of its rows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.cell import Cell
from bench.host.reporting.words.row_names import row_name, shared_facets, usual_facets


def results(*sizes: str) -> list[SimpleNamespace]:
    cells = [
        Cell("numpy", "numpy", "eager", f"workload-{number}", size, "float32", "cpu", 2)
        for number, size in enumerate(sizes)
    ]
    return [SimpleNamespace(cell=cell) for cell in cells]


@pytest.mark.parametrize(
    ("sizes", "usual"),
    [
        (("small",), "small"),
        (("small", "small", "tiny"), "small"),
        (("tiny", "small", "mini", "small"), "small"),
        (("small", "tiny"), None),
        (("small", "tiny", "mini"), None),
        (("small", "small", "tiny", "tiny"), None),
        (("small", "small", "tiny", "mini", "large"), None),
    ],
)
def test_usual_is_what_at_least_half_of_the_rows_are_and_no_other_value_as_often(sizes, usual):
    assert usual_facets(results(*sizes)) == (None, usual, "float32", "cpu", "2 threads")


def test_a_row_is_named_by_what_is_not_usual():
    given = results("tiny", "small", "mini", "small")
    assert [row_name(one.cell, usual_facets(given)) for one in given] == [
        "workload-0, tiny",
        "workload-1",
        "workload-2, mini",
        "workload-3",
    ]
    assert shared_facets(given) == "small, float32, cpu, 2 threads, unless a row says otherwise"
