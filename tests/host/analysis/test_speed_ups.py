"""Tests over which rows the geometric means of the columns are taken."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.analysis.quality import Quality
from bench.host.analysis.results import Result
from bench.host.analysis.speed_ups import LEAST_SHARE, ComparedCell, geometric_means, in_most_rows
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


def test_columns_that_leave_too_few_rows_together_get_no_mean_the_ones_with_fewest_rows_first():
    """As a mode for inference does, and one for training: most rows of the others have one or the other."""
    inference = [row(a=2.0, inference=5.0)] * 5
    training = [row(a=8.0, training=100.0)] * 4
    means, count = geometric_means([*inference, *training], (*COLUMNS, "inference"))
    assert count == 9
    assert means == pytest.approx({"base": 1.0, "a": (2.0**5 * 8.0**4) ** (1 / 9)})


def test_a_mode_of_two_thirds_of_the_rows_is_left_out_where_another_lacks_some_of_these():
    rows = [row(a=2.0, training=3.0)] * 4 + [row(training=3.0)] * 2 + [row(a=2.0)] * 3
    means, count = geometric_means(rows, COLUMNS)
    assert (set(means), count) == ({"base", "a"}, 7)


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.integers(0, 8)), min_size=1), st.sampled_from("abcdef"))
def test_chosen_columns_have_most_rows_in_common_and_the_kept_one_stays(rows, kept):
    chosen = in_most_rows(rows, kept)
    every = set().union(*rows.values())
    assert set(chosen) <= set(rows)
    assert (kept in chosen) == bool(rows.get(kept))
    if len(chosen) > 1:
        assert len(set.intersection(*(rows[column] for column in chosen))) >= LEAST_SHARE * len(every)
    # What was left out has few rows, or would leave too few.
    fewest = max(LEAST_SHARE * len(every), min(3, len(every)))
    for column in set(rows) - set(chosen):
        together = set.intersection(*(rows[one] for one in (*chosen, column)))
        assert not rows[column] or len(rows[column]) < LEAST_SHARE * len(every) or len(together) < fewest


def test_the_column_that_stands_in_the_way_of_the_others_is_left_out():
    """As Theano, which has a product and no encoder, beside Keras, which trains alone: all have four rows of six."""
    training = {"mlp", "lenet", "catdog", "transformer"}
    rows = {
        "base": {*training, "gemm", "encoder"},
        "fit": training,
        "fit-jit": training,
        "train-on-batch": training,
        "theano": {"gemm", "mlp", "lenet", "catdog"},
    }
    assert in_most_rows(rows) == ["base", "fit", "fit-jit", "train-on-batch"]


def test_a_column_that_was_left_out_early_comes_back_where_it_fits():
    narrow, wide = set(range(5)) | {7}, set(range(7))
    rows = {"a": narrow, "b": narrow, "c": wide, "d": wide}
    assert in_most_rows(rows, "a") == ["a", "b"]


@pytest.mark.parametrize("rows", [[], [row(a=2.0)] * 2, [row()] * 5])
def test_there_are_no_means_over_few_rows_or_of_the_baseline_alone(rows):
    assert geometric_means(rows, COLUMNS)[0] == {}


@pytest.mark.parametrize(("compared", "rows", "has_means"), [(3, 4, True), (6, 9, True), (5, 9, False), (3, 9, False)])
def test_a_row_in_which_nothing_was_compared_is_in_no_mean_and_counts_among_all_rows(compared, rows, has_means):
    """A baseline that failed in six rows of nine left a mean of the other three."""
    nothing = {column: place(None) for column in COLUMNS}
    means, count = geometric_means([*[row(a=2.0)] * compared, *[nothing] * (rows - compared)], COLUMNS)
    assert means == ({"base": 1.0, "a": pytest.approx(2.0)} if has_means else {})
    assert count == compared or not means
