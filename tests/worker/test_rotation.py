"""Tests the batches that modes hold which do many steps in one call."""

from __future__ import annotations

import pytest

from bench.frameworks.rotation import MOST_BATCHES, Rotation
from bench.program import Unsupported


def batches(count):
    return [([number],) for number in range(count)]


def test_a_run_may_begin_anywhere_in_the_rotation():
    rotation, held = Rotation("fit", "train-on-batch", list), batches(3)
    assert rotation.first_of(held) == 0
    assert rotation.first_of([held[2], held[0]]) == 2
    assert rotation.period == 3
    assert rotation.stacked == ([[0], [1], [2], [2], [2], [2], [2], [2]],)


def test_another_order_is_refused_and_the_other_mode_named():
    rotation, held = Rotation("fit", "train-on-batch", list), batches(3)
    rotation.first_of(held)
    with pytest.raises(Unsupported, match="mode fit needs batches that repeat in one order; use train-on-batch"):
        rotation.first_of([held[0], held[2]])


def test_more_batches_than_it_holds_are_refused_as_in_epochs_of_a_training():
    rotation = Rotation("fit", "train-on-batch", list)
    rotation.first_of(batches(MOST_BATCHES))
    with pytest.raises(Unsupported, match="mode fit holds 8 batches and was given another one; use train-on-batch"):
        rotation.first_of(batches(1))
