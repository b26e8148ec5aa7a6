"""Tests the order of measuring and what is left after a break."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.measuring import order
from bench.record import Record

A = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
B = replace(A, environment="jax", framework="jax", mode="jit")
C = replace(A, workload="mlp-train")


def record(cell: Cell, number: int, turns: int = 5, status: str = "ok", attempt: int = 1) -> Record:
    samples = [100] * turns
    return Record(
        cell, number, attempt, status, sample_ns=samples, sample_cpu_ns=samples, sample_turn=list(range(turns))
    )


def test_every_row_is_measured_once_in_every_round():
    rows = [A.row, C.row]
    assert all(sorted(order.row_order(rows, number, seed=1)) == sorted(rows) for number in range(9))


def test_the_order_is_seeded():
    rows = list("abcdefgh")
    orders = [order.row_order(rows, number, seed) for number, seed in ((0, 1), (0, 1), (0, 2), (1, 1))]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert orders[0] != orders[3]


@given(st.integers(0, 99), st.integers(0, 9), st.integers(0, 99), st.integers(1, 12))
def test_a_turn_order_holds_every_process_once(seed, number, turn, count):
    drawn = order.turn_order(seed, number, A.row, turn, count)
    assert sorted(drawn) == list(range(count))
    assert drawn == order.turn_order(seed, number, A.row, turn, count)


def test_no_process_is_always_first():
    firsts = {order.turn_order(0, 0, A.row, turn, 3)[0] for turn in range(50)}
    assert firsts == {0, 1, 2}


@given(st.integers(0, 99), st.integers(0, 9), st.integers(1, 12))
def test_every_other_round_prepares_the_processes_the_other_way_around(seed, half, count):
    drawn = order.seat_order(seed, 2 * half, A.row, count)
    assert sorted(drawn) == list(range(count))
    assert order.seat_order(seed, 2 * half + 1, A.row, count) == drawn[::-1]


def test_any_process_may_be_prepared_first():
    assert {order.seat_order(1, number, A.row, 4)[0] for number in range(0, 60, 2)} == {0, 1, 2, 3}


def test_a_new_round_seats_everybody():
    sitting = order.sitting(1, A.row, [A, B], [record(A, 0), record(B, 0)], samples=5)
    assert sitting.cells == (A, B)
    assert sitting.attempt == 1
    assert sitting.first_turns == (0, 0)


def test_a_finished_round_seats_nobody():
    assert order.sitting(0, A.row, [A, B], [record(A, 0), record(B, 0)], samples=5).cells == ()


def test_after_a_kill_only_the_turns_that_are_left_are_taken_in_new_processes():
    sitting = order.sitting(0, A.row, [A, B], [record(A, 0, turns=3), record(B, 0, turns=2)], samples=5)
    assert sitting.cells == (A, B)
    assert sitting.attempt == 2
    assert sitting.first_turns == (3, 2)


def test_processes_that_take_turns_share_their_attempt_even_after_a_break_in_the_first_turn():
    sitting = order.sitting(0, A.row, [A, B], [record(A, 0, turns=1)], samples=5)
    assert sitting.cells == (A, B)
    assert (sitting.attempt, sitting.first_turns) == (2, (1, 0))


def test_a_fact_about_a_cell_is_not_tried_again():
    for status in ("mismatch", "unsupported"):
        assert order.sitting(1, A.row, [A, B], [record(A, 0, 0, status), record(B, 0)], samples=5).cells == (B,)


def test_a_crash_gets_another_round_and_then_is_given_up():
    once = [record(A, 0, 0, "failed")]
    assert order.sitting(0, A.row, [A], once, samples=5).cells == ()
    assert order.sitting(1, A.row, [A], once, samples=5).cells == (A,)
    twice = [*once, record(A, 1, 0, "timeout")]
    assert order.sitting(2, A.row, [A], twice, samples=5).cells == ()
