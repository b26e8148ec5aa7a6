"""Tests that the best of several columns is estimated without what the choice feigns."""

from __future__ import annotations

import numpy as np
import pytest

from bench.host.statistics.choice import chosen_apart


def test_where_one_column_is_clearly_the_fastest_its_own_values_are_taken():
    random = np.random.default_rng(1)
    lines = random.normal(0.0, 0.01, (3, 7)) + np.array([[0.5], [0.0], [0.2]])
    assert chosen_apart(lines).tolist() == lines[1].tolist()


@pytest.mark.parametrize("processes", [2, 3, 10])
def test_the_best_of_equal_columns_is_no_faster_than_they_are(processes):
    random = np.random.default_rng(2)
    made = [random.normal(0.0, 1.0, (8, processes)) for _ in range(2000)]
    naive = np.mean([np.median(lines, axis=1).min() for lines in made])
    assert naive < -0.4
    assert np.mean([chosen_apart(lines).mean() for lines in made]) == pytest.approx(0.0, abs=0.05)


def test_a_process_has_no_part_in_its_own_choice():
    # The first column is the fastest in one process alone, the last one in the others.
    lines = np.array([[-9.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.0, 1.0], [3.0, 0.5, 0.5, 0.5]])
    assert chosen_apart(lines).tolist() == [3.0, 0.5, 0.5, 0.5]


def test_a_single_process_chooses_for_itself():
    assert chosen_apart(np.array([[0.3], [0.1]])).tolist() == [0.1]
