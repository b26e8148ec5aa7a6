"""Tests over which rows the geometric means of the columns are taken."""

from __future__ import annotations

from typing import Any, cast

import pytest

from bench.host.analysis.quality import Quality
from bench.host.analysis.results import Result
from bench.host.analysis.speed_ups import ComparedCell, geometric_means
from bench.host.statistics.bootstrap import Estimate

COLUMNS = ("base", "a", "training")


def place(value: float | None) -> ComparedCell:
    speed_up = None if value is None else Estimate(value, None, None, 3)
    return ComparedCell(cast(Result, cast(Any, None)), Quality.CLEAN, None, speed_up, withheld=False)


def row(**speed_ups: float | None) -> dict[str, ComparedCell]:
    return {column: place(value) for column, value in {"base": 1.0, **speed_ups}.items()}


def test_a_column_with_few_rows_gets_no_mean_and_costs_the_others_no_row():
    rows = [row(a=2.0), row(a=2.0), row(a=8.0, training=100.0), row(a=8.0, training=None)]
    means, count = geometric_means(rows, COLUMNS)
    assert count == 4
    assert means == pytest.approx({"base": 1.0, "a": 4.0})


def test_a_column_that_lacks_a_row_costs_the_others_that_row():
    rows = [row(a=2.0, training=3.0), row(a=2.0, training=3.0), row(a=2.0, training=3.0), row(a=9.0)]
    means, count = geometric_means(rows, COLUMNS)
    assert count == 3
    assert means == pytest.approx({"base": 1.0, "a": 2.0, "training": 3.0})


@pytest.mark.parametrize("rows", [[], [row(a=2.0)] * 2, [row()] * 5])
def test_there_are_no_means_over_few_rows_or_of_the_baseline_alone(rows):
    assert geometric_means(rows, COLUMNS)[0] == {}


def test_a_row_in_which_nothing_was_compared_counts_nowhere():
    rows = [*[row(a=2.0)] * 3, {column: place(None) for column in COLUMNS}]
    assert geometric_means(rows, COLUMNS) == ({"base": 1.0, "a": pytest.approx(2.0)}, 3)
