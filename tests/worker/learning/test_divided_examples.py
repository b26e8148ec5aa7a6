"""Tests which examples are trained on, which are held out, and in which order they come."""

import numpy as np
import pytest

from bench.program import Unsupported
from bench.worker.learning import division
from bench.worker.learning.lessons import Lessons

#: The first rows of these draws by NumPy's RandomState, which every version gives.
HELD, ORDERED = [2, 9, 6], [1, 6, 5, 7, 9, 3, 0]


class Specification:
    """Ten examples whose input is their row."""

    def __init__(self, count=10):
        self.count = count

    @staticmethod
    def items(size):
        return size["batch"]

    def source(self, path=None):
        return np.arange(self.count), "{} rows".format(self.count)

    @staticmethod
    def labels(source):
        return source % 2

    @staticmethod
    def examples(source, rows):
        return source[rows].astype(np.float32), (source[rows] % 2).astype(np.int32)

    @staticmethod
    def parameters(size, random):
        return {"weight": random.standard_normal(3).astype(np.float32)}


def lessons(seed=5, changed=0, count=10):
    specification = Specification(count)
    examples = division.load(specification, 3, 0.3, 1)
    return Lessons(specification, {"batch": 3}, seed, changed, examples)


def test_the_division_is_the_same_everywhere_and_loses_nothing():
    training, validation = division.divide(10, 0.3, 1)
    assert validation.tolist() == HELD
    assert sorted([*training, *validation]) == list(range(10))


def test_an_order_depends_on_seed_and_epoch_alone_and_keeps_every_row():
    rows = np.array([0, 1, 3, 5, 6, 7, 9])
    assert division.order(rows, 5, 0).tolist() == ORDERED
    orders = {tuple(division.order(rows, seed, epoch)) for seed in (5, 6) for epoch in (0, 1)}
    assert len(orders) == 4
    assert all(sorted(order) == rows.tolist() for order in orders)


def test_what_does_not_fill_a_batch_is_left_out_of_an_epoch_only():
    given = lessons()
    taken = [np.concatenate([batch[0] for batch in given.batches(epoch)]) for epoch in range(20)]
    assert {len(rows) for rows in taken} == {6}
    assert len({int(row) for rows in taken for row in rows}) == 7
    assert given.steps == 2


def test_the_last_batch_of_an_evaluation_is_filled_up_and_only_its_own_rows_count():
    found = list(division.padded_batches(np.array([4, 5, 6, 7]), 3))
    assert [(rows.tolist(), count) for rows, count in found] == [([4, 5, 6], 3), ([7, 4, 5], 1)]


def test_a_hash_tells_other_weights_and_other_orders():
    digests = {lessons().digest(), lessons(seed=6).digest(), lessons(changed=1).digest(), lessons(count=11).digest()}
    assert len(digests) == 4
    assert lessons().digest() == lessons().digest()


def test_changed_weights_differ_in_their_last_bit():
    one, other = lessons().initial["weight"], lessons(changed=1).initial["weight"]
    assert 0 < np.abs(one - other).max() <= 2.0**-22 * np.abs(one).max()


def test_too_few_examples_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"10 rows: 7 are for training and 3 for validation.*--size"):
        division.load(Specification(), 8, 0.3, 1)
    with pytest.raises(ValueError, match="0 for validation"):
        division.load(Specification(), 3, 0.01, 1)


def test_a_workload_without_examples_is_not_supported():
    with pytest.raises(Unsupported, match="has no examples"):
        division.load(object(), 3, 0.3, 1)
