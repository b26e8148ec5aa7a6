"""Tests when a row is settled: all of its comparisons different or equivalent, by what the looks allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.analysis.run_analysis import settled_rows
from bench.host.storage.manifest import Manifest
from bench.record import Record

BASE = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
OTHER = replace(BASE, environment="jax", framework="jax", mode="jit")
TWIN = replace(BASE, environment="torch1~twin")
LOOKS = (12, 18, 27, 40)


def records(cell: Cell, factor: float, noise: float, rounds: int = 12, seed: int = 0) -> list[Record]:
    random = np.random.default_rng(seed)
    made = []
    for number in range(rounds):
        ns = (1e6 * factor * np.exp(random.normal(0.0, noise, 6))).astype(int).tolist()
        made.append(Record(cell, number, 1, "ok", sample_ns=ns, sample_steps=[10] * 6, sample_turn=list(range(6))))
    return made


def settled(made: list[Record]) -> list[str]:
    run = {"study": {"baseline": BASE.column}, "looks": list(LOOKS)}
    return settled_rows(made, Manifest.from_json(run))


@pytest.mark.parametrize(("factor", "noise", "is_settled"), [(1.0, 0.002, True), (1.2, 0.002, True), (1.0, 0.1, False)])
def test_a_row_is_settled_by_a_clear_answer_of_either_kind(factor, noise, is_settled):
    made = records(BASE, 1.0, noise) + records(OTHER, factor, noise, seed=1)
    assert (settled(made) == [BASE.row]) is is_settled


def test_one_open_comparison_keeps_the_row_going():
    third = replace(OTHER, mode="eager")
    made = records(BASE, 1, 0.002) + records(OTHER, 1.5, 0.002, seed=1) + records(third, 1, 0.2, seed=2)
    assert settled(made) == []


def test_a_cell_that_failed_asks_for_no_more_rounds():
    failed = [Record(replace(OTHER, mode="eager"), 0, 1, "failed", "import", "boom")]
    made = records(BASE, 1.0, 0.002) + records(OTHER, 1.5, 0.002, seed=1) + failed
    assert settled(made) == [BASE.row]


def test_the_twin_settles_nothing_and_keeps_nothing_going():
    made = records(BASE, 1.0, 0.002) + records(TWIN, 1.0, 0.2, seed=1)
    assert settled(made) == [BASE.row]


def test_nothing_is_settled_before_the_first_look():
    made = records(BASE, 1.0, 0.002, rounds=11) + records(OTHER, 1.5, 0.002, rounds=11, seed=1)
    assert settled(made) == []


def test_the_p_values_of_all_rows_are_adjusted_together():
    """Nine rows without an answer make the same evidence weaker in the tenth."""
    clear = records(BASE, 1.0, 0.002) + records(OTHER, 1.5, 0.002, seed=1)
    noisy = []
    for number in range(9):
        cells = [replace(cell, workload=f"w{number}") for cell in (BASE, OTHER)]
        noisy += records(cells[0], 1.0, 0.3, seed=2 * number) + records(cells[1], 1.0, 0.3, seed=2 * number + 1)
    assert settled(clear) == [BASE.row]
    assert settled(clear + noisy) == []


def test_a_row_that_stopped_at_a_look_keeps_the_verdict_of_that_look():
    stopped = records(BASE, 1.0, 0.002) + records(OTHER, 1.5, 0.002, seed=1)
    assert settled(stopped) == [BASE.row]


def test_a_cell_that_was_given_up_keeps_its_row_from_going_on_for_nothing():
    """It has pairs, too few to tell, and will never have more."""
    open_cell = replace(OTHER, mode="eager")
    factors = {BASE: (1.0, 0.002), OTHER: (1.5, 0.002), open_cell: (1.0, 0.2)}
    made = [one for seed, cell in enumerate(factors) for one in records(cell, *factors[cell], rounds=18, seed=seed)]
    assert settled(made) == []
    assert settled([*made, Record(open_cell, 18, 1, "mismatch", "check", "wrong")]) == [BASE.row]
    crashes = [Record(open_cell, number, 2, "failed", "measure", "it died") for number in (3, 7)]
    assert settled([*made, *crashes]) == [BASE.row]
