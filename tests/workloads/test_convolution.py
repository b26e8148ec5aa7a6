"""Tests the convolution and pooling layers of the specifications against naive loops and finite differences."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from finite_differences import central_slopes, gradients_of_form
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workloads import convolution

few = st.integers(1, 3)
seeds = st.integers(0, 2**31)
slopes = partial(central_slopes, step=1e-6)


def naive_conv2d(images: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    height, width, _, filters = weight.shape
    count, rows, columns, _ = images.shape
    outputs = np.zeros((count, rows - height + 1, columns - width + 1, filters))
    for image, row, column, number in np.ndindex(*outputs.shape):
        window = images[image, row : row + height, column : column + width]
        outputs[image, row, column, number] = np.sum(window * weight[..., number]) + bias[number]
    return outputs


def distinct(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    """Draw values so far apart that the steps of finite differences do not change which one is the largest."""
    size = int(np.prod(shape))
    return (random.permutation(size) - size // 2 + 0.5).reshape(shape) / 50.0


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.RandomState]:
    """Draw images, weights and biases of sizes where the kernel fits; return them with the random stream."""
    height, width, channels, filters = draw(few), draw(few), draw(few), draw(few)
    random = np.random.RandomState(draw(seeds))
    images = random.standard_normal(
        (draw(few), height + draw(st.integers(0, 3)), width + draw(st.integers(0, 3)), channels)
    )
    weight = random.standard_normal((height, width, channels, filters))
    return images, weight, random.standard_normal(filters), random


@given(convolutions())
@settings(deadline=None, max_examples=40)
def test_conv2d_is_the_naive_sum(drawn: tuple) -> None:
    images, weight, bias, _ = drawn
    outputs = convolution.conv2d(images, weight, bias)
    np.testing.assert_allclose(outputs, naive_conv2d(images, weight, bias), rtol=1e-12, atol=1e-12)


@given(convolutions())
@settings(deadline=None, max_examples=40)
def test_conv2d_gradients_agree_with_finite_differences(drawn: tuple) -> None:
    images, weight, bias, random = drawn
    form = random.standard_normal(convolution.conv2d(images, weight, bias).shape)
    found = gradients_of_form(convolution.conv2d, form, [images, weight, bias])
    for array, gradient in zip((images, weight, bias), found, strict=True):
        expected = slopes(lambda: float(np.sum(form * convolution.conv2d(images, weight, bias))), array)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


@given(convolutions(), st.integers(1, 3), st.integers(0, 2))
@settings(deadline=None, max_examples=40)
def test_a_stride_takes_every_so_manieth_sum_of_padded_images(drawn: tuple, stride: int, padding: int) -> None:
    images, weight, bias, _ = drawn
    edges = ((0, 0), (padding, padding), (padding, padding), (0, 0))
    expected = naive_conv2d(np.pad(images, edges), weight, bias)[:, ::stride, ::stride]
    outputs = convolution.conv2d(images, weight, bias, stride, padding)
    np.testing.assert_allclose(outputs, expected, rtol=1e-12, atol=1e-12)


@given(convolutions(), st.integers(1, 3), st.integers(0, 2))
@settings(deadline=None, max_examples=30)
def test_gradients_with_stride_and_padding_agree_with_finite_differences(
    drawn: tuple, stride: int, padding: int
) -> None:
    images, weight, _, random = drawn

    def convolve(images: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return convolution.conv2d(images, weight, stride=stride, padding=padding)

    form = random.standard_normal(convolve(images, weight).shape)
    for array, gradient in zip((images, weight), gradients_of_form(convolve, form, [images, weight]), strict=True):
        expected = slopes(lambda: float(np.sum(form * convolve(images, weight))), array)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


def test_overlapping_pooling_takes_the_largest_of_every_window_and_gives_it_the_gradient() -> None:
    random = np.random.RandomState(3)
    images = distinct(random, (2, 5, 6, 2)) + 2
    pooled = convolution.overlapping_max_pool(images)
    assert pooled.shape == (2, 3, 3, 2)
    for image, row, column, channel in np.ndindex(*pooled.shape):
        rows, columns = (slice(max(2 * place - 1, 0), 2 * place + 2) for place in (row, column))
        assert pooled[image, row, column, channel] == images[image, rows, columns, channel].max()
    form = random.standard_normal(pooled.shape)
    expected = slopes(lambda: float(np.sum(form * convolution.overlapping_max_pool(images))), images)
    (found,) = gradients_of_form(convolution.overlapping_max_pool, form, [images])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@given(count=few, height=st.integers(2, 7), width=st.integers(2, 7), channels=few, side=st.integers(1, 2), seed=seeds)
@settings(deadline=None, max_examples=40)
def test_max_pool_takes_the_largest_of_every_whole_tile(
    count: int, height: int, width: int, channels: int, side: int, seed: int
) -> None:
    images = np.random.RandomState(seed).standard_normal((count, height, width, channels))
    pooled = convolution.max_pool(images, side)
    assert pooled.shape == (count, height // side, width // side, channels)
    for image, row, column, channel in np.ndindex(*pooled.shape):
        tile = images[image, row * side : (row + 1) * side, column * side : (column + 1) * side, channel]
        assert pooled[image, row, column, channel] == tile.max()


@given(count=few, height=st.integers(2, 5), width=st.integers(2, 5), channels=few, side=st.integers(1, 2), seed=seeds)
@settings(deadline=None, max_examples=30)
def test_max_pool_gradients_agree_with_finite_differences(
    count: int, height: int, width: int, channels: int, side: int, seed: int
) -> None:
    random = np.random.RandomState(seed)
    images = distinct(random, (count, height, width, channels))
    form = random.standard_normal(convolution.max_pool(images, side).shape)
    expected = slopes(lambda: float(np.sum(form * convolution.max_pool(images, side))), images)
    (found,) = gradients_of_form(lambda images: convolution.max_pool(images, side), form, [images])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_max_pool_gives_a_tie_to_its_first_value() -> None:
    (gradient,) = gradients_of_form(convolution.max_pool, np.full((1, 1, 1, 1), 3.0), [np.ones((1, 2, 2, 1))])
    np.testing.assert_array_equal(gradient[0, :, :, 0], [[3.0, 0.0], [0.0, 0.0]])


@given(seed=seeds)
@settings(deadline=None, max_examples=10)
def test_block_gradients_agree_with_finite_differences(seed: int) -> None:
    random = np.random.RandomState(seed)
    images, weight = random.standard_normal((2, 7, 6, 2)), random.standard_normal((3, 3, 2, 3))
    bias = random.standard_normal(3)
    form = random.standard_normal(convolution.block(images, weight, bias).shape)
    found = gradients_of_form(convolution.block, form, [images, weight, bias])
    for array, result in zip((images, weight, bias), found, strict=True):
        # A smaller step crosses fewer kinks of ReLU and maximum, and float64 is precise enough for it.
        expected = slopes(lambda: float(np.sum(form * convolution.block(images, weight, bias))), array, step=1e-7)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layers_compute_in_the_dtype_of_their_inputs(dtype: type) -> None:
    random = np.random.RandomState(0)
    arrays = [random.standard_normal(shape).astype(dtype) for shape in ((1, 6, 6, 2), (3, 3, 2, 4), (4,))]
    pooled = convolution.block(*arrays)
    results = [pooled, *gradients_of_form(convolution.block, np.ones_like(pooled), arrays)]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
