"""Tests the lengths of sequences, that padding changes no result, and the work of an encoder."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy_outputs import relative_error

from bench.registry import BUILT_IN
from bench.workloads import sequence_lengths

NAMES = ("lengths-exact", "lengths-padded", "lengths-bucketed")
EACH = pytest.mark.parametrize("workload", NAMES)
SMALL = sequence_lengths.SIZES["small"]


def drawn(workload, preset="check"):
    specification = BUILT_IN.specification(workload)
    size, random = specification.SIZES[preset], np.random.RandomState(3)
    parameters = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    return specification, size, parameters, specification.batch(size, random)


def test_there_are_32_lengths_from_16_to_512_and_neighbouring_calls_have_other_lengths():
    found = sequence_lengths.lengths(SMALL)
    assert len(set(found)) == 32
    assert (min(found), max(found)) == (16, 512)
    assert all(max(pair) > 1.5 * min(pair) for pair in itertools.pairwise(found))
    # Multiples of 16, which suit kernels, are no more frequent than among other numbers.
    assert sum(length % 16 == 0 for length in found) <= 6


def test_shapes_are_all_different_or_six_or_one():
    shapes = {}
    for workload in NAMES:
        batch = drawn(workload, "small")[3]
        shapes[workload] = {array.shape for array in batch[: SMALL["lengths"]]}
    assert [len(found) for found in shapes.values()] == [32, 1, 6]
    assert {shape[1] for shape in shapes["lengths-bucketed"]} == {16, 32, 64, 128, 256, 512}


@pytest.mark.parametrize(("length", "bucket"), [(1, 1), (16, 16), (17, 32), (512, 512)])
def test_a_bucket_is_the_next_power_of_two(length, bucket):
    assert sequence_lengths.bucket(length) == bucket


def test_padding_changes_no_result():
    specification, size, parameters, batch = drawn("lengths-exact")
    expected = specification.reference(size, parameters, batch)
    assert list(expected) == ["pooled0", "pooled1", "pooled2", "pooled3"]
    for workload in NAMES[1:]:
        other, _, _, padded = drawn(workload)
        for name, value in other.reference(size, parameters, padded).items():
            np.testing.assert_array_equal(value, expected[name])


@pytest.mark.parametrize("workload", NAMES[1:])
def test_numpy_which_leaves_padding_out_is_no_column_of_what_padding_costs(workload):
    assert not BUILT_IN.has_implementation(workload, "numpy")


@EACH
@pytest.mark.parametrize("mistake", ["attention", "mean"])
def test_padding_that_counts_is_found(workload, mistake):
    """By far more than what is allowed, for every call that is padded."""
    specification, size, parameters, batch = drawn(workload)
    expected = specification.reference(size, parameters, batch)
    for index, (tokens, *of) in enumerate(sequence_lengths.calls(size, batch)):
        right = expected[f"pooled{index}"]
        if mistake == "attention":
            wrong = sequence_lengths.encode(parameters, tokens)
        else:
            count = int(of[0][0]) if of else tokens.shape[1]
            wrong = right * count / tokens.shape[1]
        padded = bool(of) and tokens.shape[1] > int(of[0][0])
        assert (relative_error(wrong, right) > 1e-3) == padded


def test_work_is_that_of_the_tokens_that_count():
    size = {**SMALL, "lengths": 1, "shortest": 5, "longest": 5, "batch": 3, "width": 4}
    assert sequence_lengths.lengths(size) == [5]
    projections = 2 * 5 * (4 * 12 + 4 * 4 + 4 * 16 + 16 * 4)
    products = 2 * (2 * 5 * 5 * 4)
    assert sequence_lengths.useful_flops(size) == 3 * (projections + products)
    assert sequence_lengths.items(size) == 3
    assert sequence_lengths.compulsory_bytes(size, 4) == 4 * (12 * 16 + 3 * 4)


def test_all_three_are_given_the_same_work():
    for preset, size in sequence_lengths.SIZES.items():
        assert len({BUILT_IN.specification(name).useful_flops(size) for name in NAMES}) == 1, preset
