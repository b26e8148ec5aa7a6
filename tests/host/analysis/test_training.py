"""Tests what trainings are compared by: pairs of seeds, exact tests, distances of parameters, times to an accuracy."""

from __future__ import annotations

import numpy as np
import pytest
import trainings
from trainings import FACTS, trained

from bench.host.analysis.training import Agreement, analyse, distance, judge, seconds_to
from bench.record import FAILED

ZEROS = np.zeros(3)


def test_equal_accuracies_are_a_fact_however_few_the_seeds():
    assert judge({"a": ZEROS, "b": ZEROS}) == (Agreement.EQUAL, ())


def test_few_pairs_carry_no_verdict():
    assert judge({"a": np.full(7, 0.1)}) == (Agreement.FEW, ())


def test_a_column_that_always_differs_is_named():
    differences = {"a": np.linspace(0.05, 0.06, 9), "b": np.array([0.01, -0.01] * 4 + [0.0])}
    assert judge(differences) == (Agreement.DIFFERENT, ("a",))


def test_differences_are_adjusted_for_the_number_of_columns():
    # Eight pairs of one sign have p = 2/2⁸; of three columns, none is below 1 % any more.
    one = {"a": np.linspace(0.05, 0.06, 8)}
    assert judge(one)[0] is Agreement.DIFFERENT
    small = np.array([0.004, -0.004] * 4)
    assert judge({**one, "b": small, "c": small})[0] is Agreement.OPEN


def test_small_differences_are_equivalent_and_large_ones_that_cancel_are_not():
    assert judge({"a": np.array([0.002, -0.002] * 5)}) == (Agreement.EQUIVALENT, ())
    assert judge({"a": np.array([0.05, -0.05] * 5)}) == (Agreement.OPEN, ())


def test_without_a_second_column_nothing_is_compared():
    assert judge({}) == (None, ())
    (row,) = analyse(FACTS, [trained()])
    assert row.agreement is None


def test_the_distance_is_relative_to_what_the_epoch_changed():
    assert distance(trained(update=(3.0, 4.5)), trained(update=(3.0, 4.0))) == pytest.approx(0.1)
    assert distance(trained(), trained()) == 0.0


@pytest.mark.parametrize("update", [{}, {"other": [3.0, 4.0]}, {"weight": [3.0]}])
def test_parameters_that_do_not_correspond_have_no_distance(update):
    assert distance(trained().model_copy(update={"update": update}), trained()) is None


def test_the_time_to_an_accuracy_is_that_of_the_epochs_until_then():
    assert seconds_to(trained(), 0.5) == 2.0
    assert seconds_to(trained(), 0.6) == 4.0
    assert seconds_to(trained(), 0.9) is None
    assert seconds_to(trained(), None) is None


def test_seeds_are_paired_and_values_are_means_over_them():
    found = [trained(seed=1), trained(seed=2, accuracies=(0.5, 0.75))]
    found += [trained("tf2:function", seed=2, accuracies=(0.5, 0.5)), trained("tf2:function", seed=3)]
    (row,) = analyse(FACTS, found)
    baseline, other = row.cells
    assert baseline.accuracy.value == pytest.approx(0.8125)
    assert (other.difference.value, other.largest_difference, row.pairs) == (-0.25, 0.25, 1)
    assert baseline.difference is None


def test_one_seed_moves_the_largest_distance_and_not_the_median():
    found = [trained(seed=seed) for seed in (1, 2, 3)] + [trained("tf2:function", seed) for seed in (1, 2)]
    (row,) = analyse(FACTS, [*found, trained("tf2:function", 3, update=(3.0, 4.5))])
    assert row.cells[1].apart == 0.0
    assert row.cells[1].largest_apart == pytest.approx(0.1)


def test_the_changed_baseline_is_no_column_that_is_judged():
    found = trainings.study()
    found[-1] = found[-1].model_copy(update={"epochs": trained(accuracies=(0.1, 0.1)).epochs})
    (row,) = analyse(FACTS, found)
    assert row.agreement is Agreement.EQUAL
    assert row.nudged is not None
    assert row.nudged.largest_difference == pytest.approx(0.775)


def test_a_failed_seed_is_kept_beside_those_that_succeeded():
    found = [trained(seed=1), trained(seed=2, status=FAILED, stage="measure", reason="it diverged")]
    (row,) = analyse(FACTS, found)
    assert len(row.cells[0].runs) == 1
    assert row.cells[0].failed.reason == "it diverged"
