"""Computes the convolution and pooling layers of the specifications, in their inputs' dtype.

Images are (batch, height, width, channels) and weights (height, width, input channels, output channels), as in
TensorFlow.
"""

from __future__ import annotations

import numpy as np

from ..differentiation import sliding_window_view
from . import layers


def windows_of(images, height, width, stride, padding):
    """View all windows, ``stride`` apart, of images padded with zeros: (count, rows, columns, channels, height, width).

    The padding is the same at every edge. TensorFlow's and JAX's "SAME" adds less at the top and left where it is odd.
    """
    if padding:
        images = np.pad(images, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = sliding_window_view(images, (height, width), (1, 2))
    return windows[:, ::stride, ::stride] if stride > 1 else windows


def conv2d(images, weight, bias=None, stride=1, padding=0):
    """Correlate images and weights as one matrix product over all windows (im2col)."""
    height, width, channels, filters = weight.shape
    windows = windows_of(images, height, width, stride, padding)
    count, rows, columns = windows.shape[:3]
    # A window has its channels first; a weight has them last.
    flat = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, height * width * channels)
    outputs = flat @ weight.reshape(-1, filters)
    return (outputs if bias is None else outputs + bias).reshape(count, rows, columns, filters)


def max_pool(images, side=2):
    """Take the maximum of every ``side`` by ``side`` tile; rows and columns beyond the last full tile are dropped."""
    count, height, width, channels = images.shape
    rows, columns = height // side, width // side
    tiles = images[:, : rows * side, : columns * side].reshape(count, rows, side, columns, side, channels)
    tiles = tiles.transpose(0, 1, 3, 5, 2, 4).reshape(count, rows, columns, channels, side * side)
    return tiles.max(axis=-1)


def overlapping_max_pool(images, side=3, stride=2, padding=1):
    """Take the maximum of windows that overlap. The images must not be negative, since they are padded with zeros."""
    windows = windows_of(images, side, side, stride, padding)
    return windows.reshape(*windows.shape[:4], side * side).max(axis=-1)


def block(images, weight, bias):
    """Convolve, apply ReLU and pool 2 by 2."""
    return max_pool(layers.relu(conv2d(images, weight, bias)))
