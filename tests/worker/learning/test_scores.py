"""Tests accuracy and loss against values computed by hand."""

import numpy as np
import pytest

from bench.worker.learning.scores import scores

LOGITS = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]))


def test_scores_are_those_of_the_probabilities():
    found = scores(LOGITS, [0, 1, 0])
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["cross_entropy"] == pytest.approx(-(np.log(0.5) + np.log(0.8) + np.log(0.25)) / 3)
    squares = [0.25 + 2 * 0.0625, 0.04 + 2 * 0.01, 0.5625 + 0.0625 + 0.25]
    assert found["squared_error"] == pytest.approx(sum(squares) / 9)


def test_a_constant_added_to_the_logits_of_an_example_changes_nothing():
    shifted = LOGITS + np.array([[1e4], [-1e4], [0.0]])
    assert scores(shifted, [0, 1, 0]) == pytest.approx(scores(LOGITS, [0, 1, 0]))


def test_other_labels_give_another_accuracy():
    assert scores(LOGITS, [1, 2, 0])["accuracy"] == 0.0


def test_a_training_that_diverged_has_no_scores():
    with pytest.raises(FloatingPointError, match="diverged"):
        scores(np.array([[np.nan, 1.0]]), [0])


@pytest.mark.parametrize(("logits", "labels"), [(LOGITS, [0, 1]), (LOGITS[0], [0]), (LOGITS[:0], [])])
def test_outputs_that_do_not_belong_to_the_labels_are_refused(logits, labels):
    with pytest.raises(ValueError, match="do not belong together"):
        scores(logits, labels)
