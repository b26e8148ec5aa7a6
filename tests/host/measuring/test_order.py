"""Tests the order of rows, and what is left of a row after an interruption."""

from __future__ import annotations

from dataclasses import replace

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


def test_a_new_round_has_every_cell():
    found = order.row_round(1, A.row, [A, B], [record(A, 0), record(B, 0)], samples=5)
    assert found.cells == (A, B)
    assert found.attempt == 1
    assert found.first_turns == (0, 0)


def test_a_finished_round_has_no_cell():
    assert order.row_round(0, A.row, [A, B], [record(A, 0), record(B, 0)], samples=5).cells == ()


def test_after_a_kill_only_the_turns_that_are_left_are_taken_in_new_processes():
    found = order.row_round(0, A.row, [A, B], [record(A, 0, turns=3), record(B, 0, turns=2)], samples=5)
    assert found.cells == (A, B)
    assert found.attempt == 2
    assert found.first_turns == (3, 2)


def test_processes_that_take_turns_share_their_attempt_even_after_a_break_in_the_first_turn():
    found = order.row_round(0, A.row, [A, B], [record(A, 0, turns=1)], samples=5)
    assert found.cells == (A, B)
    assert (found.attempt, found.first_turns) == (2, (1, 0))


def test_a_fact_about_a_cell_is_not_tried_again():
    for status in ("mismatch", "unsupported"):
        assert order.row_round(1, A.row, [A, B], [record(A, 0, 0, status), record(B, 0)], samples=5).cells == (B,)


def test_a_crash_gets_another_round_and_then_is_given_up():
    once = [record(A, 0, 0, "failed")]
    assert order.row_round(0, A.row, [A], once, samples=5).cells == ()
    assert order.row_round(1, A.row, [A], once, samples=5).cells == (A,)
    twice = [*once, record(A, 1, 0, "timeout")]
    assert order.row_round(2, A.row, [A], twice, samples=5).cells == ()
