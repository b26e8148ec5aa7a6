"""Implements lenet-train in NumPy, its gradients written by hand; a convolution is one product over all windows."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import training
from ...frameworks.numpy.programs import cross_entropy
from . import OPTIMIZER


def windows(images, side):
    """Copy all windows of ``side`` by ``side`` pixels to the rows of a matrix."""
    count, height, width, channels = images.shape
    image, row, column, channel = images.strides
    views = np.lib.stride_tricks.as_strided(
        images,
        (count, height - side + 1, width - side + 1, side, side, channels),
        (image, row, column, row, column, channel),
        writeable=False,
    )
    return views.reshape(-1, side * side * channels)


def convolve(images, weight, bias):
    """Convolve and apply ReLU; return the outputs and the windows."""
    count, height, width, _ = images.shape
    side, _, _, filters = weight.shape
    rows = windows(images, side)
    outputs = rows @ weight.reshape(-1, filters)
    outputs += bias
    np.maximum(outputs, 0, out=outputs)
    return outputs.reshape(count, height - side + 1, width - side + 1, filters), rows


def gradient_of_images(gradient, weight, shape):
    """Add the gradients of windows where they overlap."""
    side, _, channels, filters = weight.shape
    count, rows, columns, _ = gradient.shape
    received = (gradient.reshape(-1, filters) @ weight.reshape(-1, filters).T).reshape(
        count, rows, columns, side, side, channels
    )
    images = np.zeros(shape, gradient.dtype)
    for row in range(side):
        for column in range(side):
            images[:, row : row + rows, column : column + columns] += received[:, :, :, row, column]
    return images


def pool(images):
    """Take the maximum of tiles of 2 by 2; return it and which of the four corners has it."""
    count, height, width, channels = images.shape
    tiles = images.reshape(count, height // 2, 2, width // 2, 2, channels).transpose(0, 1, 3, 5, 2, 4)
    tiles = tiles.reshape(count, height // 2, width // 2, channels, 4)
    chosen = tiles.argmax(axis=-1)[..., np.newaxis]
    return np.take_along_axis(tiles, chosen, axis=-1)[..., 0], chosen


def unpool(gradient, chosen, shape):
    """Give each tile's gradient to its maximum."""
    count, height, width, channels = shape
    tiles = np.zeros((*gradient.shape, 4), gradient.dtype)
    np.put_along_axis(tiles, chosen, gradient[..., np.newaxis], axis=-1)
    tiles = tiles.reshape(count, height // 2, width // 2, channels, 2, 2).transpose(0, 1, 4, 2, 5, 3)
    return tiles.reshape(shape)


def forward(parameters, images):
    """Return the logits, and of blocks and dense layers what their gradients need."""
    blocks, inputs = [], []
    activations = images
    for name in ("conv1", "conv2"):
        shape = activations.shape
        convolved, rows = convolve(activations, parameters[name + "_weight"], parameters[name + "_bias"])
        activations, chosen = pool(convolved)
        blocks.append((name, shape, rows, convolved, chosen))
    activations = activations.reshape(len(images), -1)
    for name in ("dense1", "dense2", "dense3"):
        inputs.append((name, activations))
        activations = activations @ parameters[name + "_weight"]
        activations += parameters[name + "_bias"]
        if name != "dense3":
            np.maximum(activations, 0, out=activations)
    return activations, blocks, inputs


def logits(parameters, images):
    return forward(parameters, images)[0]


def loss_and_gradients(parameters, images, labels):
    found, blocks, inputs = forward(parameters, images)
    loss, gradient = cross_entropy(found, labels)
    gradients = {}
    for name, activations in reversed(inputs):
        gradients[name + "_weight"] = activations.T @ gradient
        gradients[name + "_bias"] = gradient.sum(axis=0)
        gradient = gradient @ parameters[name + "_weight"].T
        gradient *= activations > 0
    for name, shape, rows, convolved, chosen in reversed(blocks):
        weight = parameters[name + "_weight"]
        gradient = unpool(gradient.reshape(chosen.shape[:-1]), chosen, convolved.shape)
        gradient *= convolved > 0
        flat = gradient.reshape(-1, weight.shape[-1])
        gradients[name + "_weight"] = (rows.T @ flat).reshape(weight.shape)
        gradients[name + "_bias"] = flat.sum(axis=0)
        if name != "conv1":
            gradient = gradient_of_images(gradient, weight, shape)
    return loss, gradients


def build(size, parameters, batch, transform):
    return training(loss_and_gradients, parameters, transform, OPTIMIZER, outputs=logits)
