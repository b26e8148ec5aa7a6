"""Tests the attention layers of the specifications against naive loops and finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from finite_differences import central_slopes, gradients_of_form
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workloads import attention, long_attention

counts = st.integers(1, 4)
seeds = st.integers(0, 2**31)
slopes = partial(central_slopes, step=1e-5)


def assert_gradients_agree(function: Callable, arrays: list, random: np.random.RandomState) -> None:
    """Compare the gradients of a random linear form of ``function``'s output with its slopes in every element."""
    form = random.standard_normal(function(*arrays).shape)
    for array, gradient in zip(arrays, gradients_of_form(function, form, arrays), strict=True):
        expected = slopes(lambda: float((function(*arrays) * form).sum()), array)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


@settings(deadline=None, max_examples=20)
@given(rows=counts, columns=st.integers(2, 5), seed=seeds)
def test_layer_norm_gradients_agree_with_finite_differences(rows: int, columns: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    # Evenly spread rows keep the variance away from zero, where finite differences are poor.
    inputs = np.arange(columns) + 0.15 * random.standard_normal((2, rows, columns))
    arrays = [inputs, random.standard_normal(columns), random.standard_normal(columns)]
    assert_gradients_agree(attention.layer_norm, arrays, random)


@settings(deadline=None, max_examples=20)
@given(rows=counts, columns=counts, seed=seeds)
def test_gelu_gradients_agree_with_finite_differences(rows: int, columns: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    arrays = [2 * random.standard_normal((rows, columns))]
    assert_gradients_agree(attention.gelu, arrays, random)


@pytest.mark.parametrize("causal", [False, True])
@settings(deadline=None, max_examples=15)
@given(batch=st.integers(1, 2), heads=st.integers(1, 3), sequence=counts, width=counts, seed=seeds)
def test_attention_gradients_agree_with_finite_differences(
    causal: bool, batch: int, heads: int, sequence: int, width: int, seed: int
) -> None:
    random = np.random.RandomState(seed)
    arrays = list(random.standard_normal((3, batch, heads, sequence, width)))
    assert_gradients_agree(lambda *parts: attention.attention(*parts, causal=causal), arrays, random)


@settings(deadline=None, max_examples=15)
@given(vocabulary=counts, width=counts, length=st.integers(1, 6), seed=seeds)
def test_an_embedding_collects_the_gradients_of_repeated_rows(
    vocabulary: int, width: int, length: int, seed: int
) -> None:
    random = np.random.RandomState(seed)
    indices = random.randint(0, vocabulary, (2, length))
    arrays = [random.standard_normal((vocabulary, width))]
    assert_gradients_agree(lambda table: table[indices], arrays, random)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_equals_a_loop_over_positions(causal: bool) -> None:
    random = np.random.RandomState(1)
    queries, keys, values = random.standard_normal((3, 2, 3, 5, 4))
    output = attention.attention(queries, keys, values, causal)
    for batch, head, position in np.ndindex(2, 3, 5):
        seen = range(position + 1 if causal else 5)
        weights = [math.exp(queries[batch, head, position] @ keys[batch, head, other] / math.sqrt(4)) for other in seen]
        mixed = sum(weight * values[batch, head, other] for weight, other in zip(weights, seen, strict=True))
        np.testing.assert_allclose(output[batch, head, position], mixed / sum(weights), rtol=1e-12)


def test_attention_survives_large_scores() -> None:
    queries = np.full((1, 1, 2, 1), 1e3)
    output = attention.attention(queries, queries * [[1], [2]], np.array([[[[3.0], [7.0]]]]), causal=False)
    np.testing.assert_allclose(output.ravel(), [7, 7])


def test_layer_norm_normalises_each_row() -> None:
    inputs = np.random.RandomState(2).standard_normal((3, 4, 50)) * 5 + 9
    normal = attention.layer_norm(inputs, np.ones(50), np.zeros(50))
    np.testing.assert_allclose(normal.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(normal.std(axis=-1), 1, rtol=1e-5)
    moved = attention.layer_norm(inputs, np.full(50, 2.0), np.full(50, 0.5))
    np.testing.assert_allclose(moved, 2 * normal + 0.5)


def test_gelu_is_close_to_its_tanh_form() -> None:
    inputs = np.linspace(-6, 6, 241)
    approximate = 0.5 * inputs * (1 + np.tanh(math.sqrt(2 / math.pi) * (inputs + 0.044715 * inputs**3)))
    np.testing.assert_allclose(attention.gelu(inputs), approximate, atol=6e-4)


def test_gelu_accepts_arrays_of_any_layout() -> None:
    inputs = np.random.RandomState(4).standard_normal((3, 5, 4)).transpose(2, 0, 1)
    np.testing.assert_array_equal(attention.gelu(inputs), attention.gelu(inputs.copy()))


def test_heads_are_split_in_the_order_part_head_column() -> None:
    projected = np.arange(2 * 3 * 12).reshape(2, 3, 12)
    queries, keys, values = attention.split_heads(projected, 3, 2)
    assert queries.shape == (2, 2, 3, 2)
    np.testing.assert_array_equal(queries[1, 0, 2], projected[1, 2, 0:2])
    np.testing.assert_array_equal(keys[0, 1, 2], projected[0, 2, 6:8])
    np.testing.assert_array_equal(values[1, 1, 0], projected[1, 0, 10:12])


@settings(deadline=None, max_examples=15)
@given(batch=counts, sequence=counts, parts=counts, heads=counts, width=counts)
def test_merging_heads_undoes_splitting_them(batch: int, sequence: int, parts: int, heads: int, width: int) -> None:
    projected = np.arange(batch * sequence * parts * heads * width).reshape(batch, sequence, -1)
    merged = [attention.merge_heads(part) for part in attention.split_heads(projected, parts, heads)]
    np.testing.assert_array_equal(np.concatenate(merged, axis=-1), projected)


def test_layers_compute_in_the_dtype_of_their_inputs() -> None:
    random = np.random.RandomState(3)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in ((1, 2, 4, 6), 6)]
    for compute in (
        lambda inputs, vector: attention.layer_norm(inputs, vector, vector),
        lambda inputs, vector: attention.gelu(inputs),
        lambda inputs, vector: attention.attention(inputs, inputs, inputs, causal=True),
        lambda inputs, vector: vector[np.array([1, 0])],
    ):
        output = compute(*arrays)
        found = [output, *gradients_of_form(compute, np.ones_like(output), arrays)]
        assert {array.dtype for array in found} == {np.dtype(np.float32)}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("sequence", "block", "count"), [(8, 4, 2), (12, 4, 3), (8, 8, 1), (10, 4, 1), (8, 16, 1)])
def test_blocks_cover_all_queries_and_see_all_keys_that_are_visible(sequence, block, count, causal):
    found = long_attention.blocks(sequence, block, causal)
    assert len(found) == count
    assert [query for first, end, _ in found for query in range(first, end)] == list(range(sequence))
    assert all(seen == (end if causal else sequence) for _, end, seen in found)
