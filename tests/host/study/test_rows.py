"""Tests how cells are grouped into rows."""

from __future__ import annotations

from dataclasses import replace

from bench.cell import Cell
from bench.host.study.rows import group_by_row

A = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
B = replace(A, environment="jax", framework="jax", mode="jit")
C = replace(A, workload="mlp-train")


def test_cells_that_compute_the_same_are_a_row():
    assert group_by_row([A, C, B]) == {A.row: (A, B), C.row: (C,)}
