"""Computes the convolution and pooling layers of the specifications, forward and backward, in their inputs' dtype.

Images are (batch, height, width, channels) and weights (height, width, input channels, output channels), as in
TensorFlow. As in ``layers``, a forward returns ``(output, cache)`` and its backward takes the gradient and the cache.
"""

from __future__ import annotations

import numpy as np

from . import layers


def patches(images, height, width):
    """Return a view of all windows of the images: (batch, rows, columns, height, width, channels)."""
    count, rows, columns, channels = images.shape
    image, row, column, channel = images.strides
    return np.lib.stride_tricks.as_strided(
        images,
        (count, rows - height + 1, columns - width + 1, height, width, channels),
        (image, row, column, row, column, channel),
        writeable=False,
    )


def conv2d(images, weight, bias):
    """Correlate images and weights, stride 1, no padding, as one matrix product over all windows (im2col)."""
    height, width, _, filters = weight.shape
    windows = patches(images, height, width)
    flat = windows.reshape(-1, height * width * images.shape[3])
    outputs = flat @ weight.reshape(-1, filters) + bias
    return outputs.reshape((*windows.shape[:3], filters)), (images.shape, flat, weight)


def conv2d_backward_parameters(gradient, cache):
    """Return the gradients of weight and bias."""
    _, flat, weight = cache
    flat_gradient = gradient.reshape(-1, weight.shape[3])
    return (flat.T @ flat_gradient).reshape(weight.shape), flat_gradient.sum(axis=0)


def conv2d_backward_images(gradient, cache):
    """Return the gradient of the images: the windows' gradients, added where windows overlap."""
    shape, _, weight = cache
    height, width, channels, filters = weight.shape
    count, rows, columns, _ = gradient.shape
    received = gradient.reshape(-1, filters) @ weight.reshape(-1, filters).T
    received = received.reshape(count, rows, columns, height, width, channels)
    images = np.zeros(shape, gradient.dtype)
    for row in range(height):
        for column in range(width):
            images[:, row : row + rows, column : column + columns] += received[:, :, :, row, column]
    return images


def max_pool(images, side=2):
    """Take the maximum of every ``side`` by ``side`` tile; rows and columns beyond the last full tile are dropped."""
    count, height, width, channels = images.shape
    rows, columns = height // side, width // side
    tiles = images[:, : rows * side, : columns * side].reshape(count, rows, side, columns, side, channels)
    tiles = tiles.transpose(0, 1, 3, 5, 2, 4).reshape(count, rows, columns, channels, side * side)
    chosen = tiles.argmax(axis=-1)[..., np.newaxis]
    return np.take_along_axis(tiles, chosen, axis=-1)[..., 0], (images.shape, side, chosen)


def max_pool_backward(gradient, cache):
    """Return the gradient of the images: a tile's gradient goes to its maximum, the first of equal ones."""
    shape, side, chosen = cache
    count, rows, columns, channels = gradient.shape
    tiles = np.zeros((count, rows, columns, channels, side * side), gradient.dtype)
    np.put_along_axis(tiles, chosen, gradient[..., np.newaxis], axis=-1)
    tiles = tiles.reshape(count, rows, columns, channels, side, side).transpose(0, 1, 4, 2, 5, 3)
    images = np.zeros(shape, gradient.dtype)
    images[:, : rows * side, : columns * side] = tiles.reshape(count, rows * side, columns * side, channels)
    return images


def block(images, weight, bias):
    """Convolve, apply ReLU and pool 2 by 2."""
    convolved, convolution = conv2d(images, weight, bias)
    rectified, positive = layers.relu(convolved)
    pooled, pooling = max_pool(rectified)
    return pooled, (convolution, positive, pooling)


def block_backward(gradient, cache):
    """Return the gradient of the convolution's output, and the cache for conv2d's backward functions."""
    convolution, positive, pooling = cache
    return layers.relu_backward(max_pool_backward(gradient, pooling), positive), convolution
