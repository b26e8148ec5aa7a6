"""Tests the convolution and pooling layers of the specifications against naive loops and finite differences."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from finite_differences import central_slopes
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
    outputs, _ = convolution.conv2d(images, weight, bias)
    np.testing.assert_allclose(outputs, naive_conv2d(images, weight, bias), rtol=1e-12, atol=1e-12)


@given(convolutions())
@settings(deadline=None, max_examples=40)
def test_conv2d_backward_agrees_with_finite_differences(drawn: tuple) -> None:
    images, weight, bias, random = drawn
    outputs, cache = convolution.conv2d(images, weight, bias)
    form = random.standard_normal(outputs.shape)
    found = (convolution.conv2d_backward_images(form, cache), *convolution.conv2d_backward_parameters(form, cache))
    for array, gradient in zip((images, weight, bias), found, strict=True):
        assert gradient.shape == array.shape
        expected = slopes(lambda: float(np.sum(form * convolution.conv2d(images, weight, bias)[0])), array)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


@given(count=few, height=st.integers(2, 7), width=st.integers(2, 7), channels=few, side=st.integers(1, 2), seed=seeds)
@settings(deadline=None, max_examples=40)
def test_max_pool_takes_the_largest_of_every_whole_tile(
    count: int, height: int, width: int, channels: int, side: int, seed: int
) -> None:
    images = np.random.RandomState(seed).standard_normal((count, height, width, channels))
    pooled, _ = convolution.max_pool(images, side)
    assert pooled.shape == (count, height // side, width // side, channels)
    for image, row, column, channel in np.ndindex(*pooled.shape):
        tile = images[image, row * side : (row + 1) * side, column * side : (column + 1) * side, channel]
        assert pooled[image, row, column, channel] == tile.max()


@given(count=few, height=st.integers(2, 5), width=st.integers(2, 5), channels=few, side=st.integers(1, 2), seed=seeds)
@settings(deadline=None, max_examples=30)
def test_max_pool_backward_agrees_with_finite_differences(
    count: int, height: int, width: int, channels: int, side: int, seed: int
) -> None:
    random = np.random.RandomState(seed)
    images = distinct(random, (count, height, width, channels))
    pooled, cache = convolution.max_pool(images, side)
    form = random.standard_normal(pooled.shape)
    expected = slopes(lambda: float(np.sum(form * convolution.max_pool(images, side)[0])), images)
    np.testing.assert_allclose(convolution.max_pool_backward(form, cache), expected, rtol=1e-6, atol=1e-7)


def test_max_pool_gives_a_tie_to_its_first_value() -> None:
    _, cache = convolution.max_pool(np.ones((1, 2, 2, 1)))
    gradient = convolution.max_pool_backward(np.full((1, 1, 1, 1), 3.0), cache)
    np.testing.assert_array_equal(gradient[0, :, :, 0], [[3.0, 0.0], [0.0, 0.0]])


@given(seed=seeds)
@settings(deadline=None, max_examples=10)
def test_block_backward_agrees_with_finite_differences(seed: int) -> None:
    random = np.random.RandomState(seed)
    images, weight = random.standard_normal((2, 7, 6, 2)), random.standard_normal((3, 3, 2, 3))
    bias = random.standard_normal(3)
    pooled, cache = convolution.block(images, weight, bias)
    form = random.standard_normal(pooled.shape)
    gradient, convolved = convolution.block_backward(form, cache)
    found = (
        convolution.conv2d_backward_images(gradient, convolved),
        *convolution.conv2d_backward_parameters(gradient, convolved),
    )
    for array, result in zip((images, weight, bias), found, strict=True):
        # A smaller step crosses fewer kinks of ReLU and maximum, and float64 is precise enough for it.
        expected = slopes(lambda: float(np.sum(form * convolution.block(images, weight, bias)[0])), array, step=1e-7)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layers_compute_in_the_dtype_of_their_inputs(dtype: type) -> None:
    random = np.random.RandomState(0)
    images, weight, bias = (random.standard_normal(shape).astype(dtype) for shape in ((1, 6, 6, 2), (3, 3, 2, 4), (4,)))
    pooled, cache = convolution.block(images, weight, bias)
    gradient, convolved = convolution.block_backward(pooled, cache)
    results = [pooled, gradient, convolution.conv2d_backward_images(gradient, convolved)]
    results += convolution.conv2d_backward_parameters(gradient, convolved)
    assert {result.dtype for result in results} == {np.dtype(dtype)}


def test_patches_cannot_be_written_through() -> None:
    windows = convolution.patches(np.zeros((1, 4, 4, 1)), 2, 2)
    with pytest.raises(ValueError, match="read-only"):
        windows[0, 0, 0, 0, 0, 0] = 1.0
