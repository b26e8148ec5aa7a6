"""Computes the convolution and pooling layers of the specifications, in their inputs' dtype.

Images are (batch, height, width, channels) and weights (height, width, input channels, output channels), as in
TensorFlow.
"""

from __future__ import annotations

import numpy as np

from . import layers


def conv2d(images, weight, bias):
    """Correlate images and weights, stride 1, no padding, as one matrix product over all windows (im2col)."""
    height, width, channels, filters = weight.shape
    windows = np.lib.stride_tricks.sliding_window_view(images, (height, width), axis=(1, 2))
    count, rows, columns = windows.shape[:3]
    # A window has its channels first; a weight has them last.
    flat = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, height * width * channels)
    outputs = flat @ weight.reshape(-1, filters) + bias
    return outputs.reshape(count, rows, columns, filters)


def max_pool(images, side=2):
    """Take the maximum of every ``side`` by ``side`` tile; rows and columns beyond the last full tile are dropped."""
    count, height, width, channels = images.shape
    rows, columns = height // side, width // side
    tiles = images[:, : rows * side, : columns * side].reshape(count, rows, side, columns, side, channels)
    tiles = tiles.transpose(0, 1, 3, 5, 2, 4).reshape(count, rows, columns, channels, side * side)
    return tiles.max(axis=-1)


def block(images, weight, bias):
    """Convolve, apply ReLU and pool 2 by 2."""
    return max_pool(layers.relu(conv2d(images, weight, bias)))
