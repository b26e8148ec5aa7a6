"""Tests the orders within a row round."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bench.host.executors import turns

ROW = "gemm/tiny/float32/cpu"


@given(st.integers(0, 99), st.integers(0, 9), st.integers(0, 99), st.integers(1, 12))
def test_a_turn_order_holds_every_process_once(seed, number, turn, count):
    drawn = turns.turn_order(seed, number, ROW, turn, count)
    assert sorted(drawn) == list(range(count))
    assert drawn == turns.turn_order(seed, number, ROW, turn, count)


def test_no_process_is_always_first():
    firsts = {turns.turn_order(0, 0, ROW, turn, 3)[0] for turn in range(50)}
    assert firsts == {0, 1, 2}


@given(st.integers(0, 99), st.integers(0, 9), st.integers(1, 12))
def test_every_other_round_prepares_the_processes_the_other_way_around(seed, half, count):
    drawn = turns.start_order(seed, 2 * half, ROW, count)
    assert sorted(drawn) == list(range(count))
    assert turns.start_order(seed, 2 * half + 1, ROW, count) == drawn[::-1]


def test_any_process_may_be_prepared_first():
    assert {turns.start_order(1, number, ROW, 4)[0] for number in range(0, 60, 2)} == {0, 1, 2, 3}
