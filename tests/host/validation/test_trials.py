"""Tests which comparisons a validation makes, and that trial data survive its file."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from bench.cell import Cell
from bench.host.study.twin import SUFFIX
from bench.host.validation import trial_plan
from bench.host.validation.measure import profile_for
from bench.host.validation.trial import Pair, Trial, TrialData, trial_data
from bench.record import Record

CELL = Cell("numpy", "numpy", "eager", "gemm", "tiny", "float32", "cpu", 1)
TWIN = Cell("numpy" + SUFFIX, "numpy", "eager", "gemm", "tiny", "float32", "cpu", 1)


def record(cell: Cell, number: int, sample_ns: list[int], **values: object) -> Record:
    turns = list(range(len(sample_ns)))
    steps = [10] * len(sample_ns)
    made = {"sample_ns": sample_ns, "sample_steps": steps, "sample_turn": turns, **values}
    return Record(cell, number, 1, **{"status": "ok", **made})


def test_every_column_gets_every_kernel():
    columns = [(name, "torch", "eager") for name in "abcde"]
    seen = {(c.environment, c.workload) for c in itertools.islice(trial_plan.cells(columns, 1), 25)}
    assert len(seen) == 25


def test_one_comparison_in_fifteen_is_one_of_a_framework():
    light = trial_plan.cells([("numpy", "numpy", "eager")], 1)
    heavy = trial_plan.cells([("jax", "jax", "jit")], 1)
    made = [cell.framework for cell in itertools.islice(trial_plan.mixed(light, heavy), 60)]
    assert made.count("jax") == 4


def test_a_plan_holds_as_many_of_each_kind_as_asked_for_in_a_seeded_order():
    def plan(seed):
        return trial_plan.plan(trial_plan.cells([("numpy", "numpy", "eager")], 1), 30, {0.02: 5, 0.05: 2}, seed)

    planned = plan(1)
    assert sorted(trial.slowdown for trial in planned) == [0.0] * 30 + [0.02] * 5 + [0.05] * 2
    assert [trial.number for trial in planned] == list(range(37))
    assert planned == plan(1) != plan(2)


def test_the_numbers_are_those_that_bound_the_rates():
    assert 0.99**trial_plan.SAME < 0.05 < 0.99 ** (trial_plan.SAME - 1)
    assert 0.95 ** trial_plan.PLANTED[0.02] < 0.05


def test_a_trial_keeps_the_common_turns_of_one_row_round():
    trial = Trial(3, CELL, 0.02)
    records = [
        record(CELL, 0, [100, 110, 120]),
        record(TWIN, 0, [200, 210], settings={"planted slowdown": 0.0204}),
        record(CELL, 1, [100]),
        record(TWIN, 1, [], status="failed", stage="measure", reason="boom"),
    ]
    data = trial_data(trial, records, 2, (2,), 9.0)
    assert data.pairs == (Pair(0, (10.0, 11.0), (20.0, 21.0)),)
    assert (data.planted, data.reason) == (0.0204, "failed in measure: boom")


def test_disturbed_turns_are_left_out_of_both_sides():
    marked = {"disturbed": {"1": "x"}}
    data = trial_data(
        Trial(0, CELL, 0.0),
        [record(CELL, 0, [100, 900, 120], **marked), record(TWIN, 0, [100, 110, 120], **marked)],
        1,
        (1,),
        1.0,
    )
    assert data.pairs == (Pair(0, (10.0, 12.0), (10.0, 12.0)),)


def test_a_pair_that_others_disturbed_throughout_says_so():
    marked = {"disturbed": {"0": "x", "1": "x"}}
    cell, twin = record(CELL, 0, [100, 900, 120], **marked), record(TWIN, 0, [100, 110, 120])
    (pair,) = trial_data(Trial(0, CELL, 0.0), [cell, twin], 1, (1,), 1.0).pairs
    assert (len(pair.cell_ns), pair.disturbed) == (3, True)


def test_a_trial_survives_its_file():
    data = TrialData(Trial(3, CELL, 0.02), 0.02, 10, (10, 14), (Pair(0, (1.5, 2.0), (2.5, 3.0), 1, True),), 4.5, None)
    assert TrialData.from_json(json.loads(json.dumps(data.to_json()))) == data


def test_a_trial_data_the_version_before_is_read():
    data = TrialData(Trial(3, CELL, 0.02), 0.02, 10, (10, 14), (Pair(0, (1.5, 2.0), (2.5, 3.0), 1),), 4.5, None)
    values = json.loads(json.dumps(data.to_json()))
    old = {**values, "version": 3, "pairs": [[pair[0], pair[1], *pair[3:]] for pair in values["pairs"]]}
    assert TrialData.from_json(old) == data


def test_what_takes_long_to_start_is_sampled_more():
    assert profile_for(replace(CELL, framework="torch")).samples > profile_for(replace(CELL, framework="numpy")).samples


@pytest.mark.parametrize("values", [{}, {"version": 99}, {"version": 1}, {"version": 1, "trial": 3, "pairs": "x"}])
def test_what_is_no_trial_is_refused(values):
    with pytest.raises(ValueError, match="trial data"):
        TrialData.from_json(values)
