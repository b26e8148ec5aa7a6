"""Tests how cells are grouped into rows."""

from __future__ import annotations

from dataclasses import replace

from bench.cell import Cell
from bench.host.study.rows import group_by_row

A = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
B = replace(A, environment="jax", framework="jax", mode="jit")
C = replace(A, workload="mlp-train")


def test_a_row_is_named_by_its_threads_where_a_study_has_several():
    assert A.row == "gemm/tiny/float32/cpu"
    assert replace(A, threads_named=True).row == "gemm/tiny/float32/cpu/2-threads"
    assert replace(A, threads=1, threads_named=True).row == "gemm/tiny/float32/cpu/1-thread"


def test_a_step_over_several_devices_is_in_the_row_of_those_on_one():
    assert replace(A, devices=2).row == A.row


def test_a_cell_of_an_older_journal_has_one_device_and_an_unnamed_thread_count():
    older = {name: value for name, value in A.to_json().items() if name not in ("devices", "threads_named")}
    assert Cell.from_json(older) == A
    assert Cell.from_json(replace(A, devices=2).to_json()) == replace(A, devices=2)


def test_cells_that_compute_the_same_are_a_row():
    assert group_by_row([A, C, B]) == {A.row: (A, B), C.row: (C,)}
