"""Tests the A/A twin: which column is measured twice, and that its name leads back to its environment."""

from __future__ import annotations

import re
from dataclasses import replace

from bench.cell import Cell
from bench.host.study.session_names import NAME_PATTERN
from bench.host.study.twin import (
    SUFFIX,
    column_to_repeat,
    is_twin,
    original,
    original_cell,
    with_twin,
)

A = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
B = replace(A, mode="torchscript")
C = replace(A, environment="jax", framework="jax", mode="jit")
D = replace(A, workload="mlp-train")


def test_only_the_chosen_column_gets_a_twin_right_behind_it():
    cells = with_twin([A, B, C, D], "torch1:eager")
    assert [cell.environment for cell in cells] == ["torch1", "torch1~twin", "torch1", "jax", "torch1", "torch1~twin"]
    assert [original_cell(cell) for cell in cells if is_twin(cell)] == [A, D]


def test_a_twin_takes_turns_with_its_original():
    cells = with_twin([A], A.column)
    assert len({cell.row for cell in cells}) == 1


def test_without_a_column_there_is_no_twin():
    assert with_twin([A, B], None) == (A, B)


def test_the_baseline_is_repeated_where_it_is_measured_and_otherwise_the_first_column():
    assert column_to_repeat([C, A], "torch1:eager") == "torch1:eager"
    assert column_to_repeat([C, B], "torch1:eager") == "jax:jit"
    assert column_to_repeat([], "torch1:eager") is None


def test_no_environment_of_a_study_can_be_taken_for_a_twin():
    assert re.match(NAME_PATTERN, "torch1" + SUFFIX) is None
    assert original("torch1" + SUFFIX) == original("torch1") == "torch1"
