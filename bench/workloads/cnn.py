"""Computes the small convolutional networks of the specifications: shapes, initial values, gradients and work.

A network consists of blocks (convolution with square kernels, ReLU, 2 by 2 maximum pooling), then dense layers with
ReLU between them. Its parameters are conv1_weight, conv1_bias, …, dense1_weight, dense1_bias, … in this order.
"""

from __future__ import annotations

import numpy as np

from . import convolution, layers

KERNEL = 5

#: The fastest known algorithm for filters of 5 by 5 needs this many times fewer products than are counted: Winograd's
#: F(4×4, 5×5) computes 16 outputs with 64 products instead of 400 (Lavin & Gray 2016). So a step may exceed the
#: machine's peak by this factor.
FLOPS_DIVISOR = 6.25


def sides(side, blocks):
    """Return the side of each block's convolved images, and at the end the side of the last block's output."""
    found = []
    for _ in range(blocks):
        found.append(side - KERNEL + 1)
        side = found[-1] // 2
    return [*found, side]


def shapes(side, filters, dense):
    """Return ``{name: shape}`` for grey images: a block for each of ``filters``, a layer for each of ``dense``."""
    named = {}
    channels = 1
    for number, count in enumerate(filters, 1):
        named["conv%d_weight" % number] = (KERNEL, KERNEL, channels, count)
        named["conv%d_bias" % number] = (count,)
        channels = count
    rows = channels * sides(side, len(filters))[-1] ** 2
    for number, columns in enumerate(dense, 1):
        named["dense%d_weight" % number] = (rows, columns)
        named["dense%d_bias" % number] = (columns,)
        rows = columns
    return named


def initial(named, random):
    """Draw He-initialised weights and zero biases for ``shapes``."""
    return {
        name: np.zeros(shape, np.float32)
        if name.endswith("bias")
        else layers.he(random, shape, int(np.prod(shape[:-1])))
        for name, shape in named.items()
    }


def numbered(parameters, kind):
    """Return the names ``conv1``, ``conv2``, … of one kind of layer."""
    return [name[: -len("_weight")] for name in parameters if name.startswith(kind) and name.endswith("_weight")]


def forward(parameters, images):
    """Compute the logits; return them with the caches of the blocks, the dense layers and the ReLUs between these."""
    blocks, linears, positives = [], [], []
    activations = images
    for name in numbered(parameters, "conv"):
        activations, cache = convolution.block(activations, parameters[name + "_weight"], parameters[name + "_bias"])
        blocks.append(cache)
    pooled_shape = activations.shape
    activations = activations.reshape(len(images), -1)
    for name in numbered(parameters, "dense"):
        if linears:
            activations, positive = layers.relu(activations)
            positives.append(positive)
        activations, cache = layers.linear(activations, parameters[name + "_weight"], parameters[name + "_bias"])
        linears.append(cache)
    return activations, (blocks, linears, positives, pooled_shape)


def loss_and_gradients(parameters, batch):
    """Compute the mean cross-entropy of ``(images, labels)`` and its gradients in the dtype of ``parameters``."""
    images, labels = batch
    logits, (blocks, linears, positives, pooled_shape) = forward(parameters, images)
    loss, entropy = layers.cross_entropy(logits, labels)
    gradient = layers.cross_entropy_backward(entropy)
    found = {}
    for index, name in reversed(list(enumerate(numbered(parameters, "dense")))):
        gradient, found[name + "_weight"], found[name + "_bias"] = layers.linear_backward(gradient, linears[index])
        if index:
            gradient = layers.relu_backward(gradient, positives[index - 1])
    gradient = gradient.reshape(pooled_shape)
    for index, name in reversed(list(enumerate(numbered(parameters, "conv")))):
        gradient, cache = convolution.block_backward(gradient, blocks[index])
        found[name + "_weight"], found[name + "_bias"] = convolution.conv2d_backward_parameters(gradient, cache)
        if index:
            gradient = convolution.conv2d_backward_images(gradient, cache)
    return loss, found


def useful_flops(named, side, count):
    """Count the FLOPs of a step on ``count`` images: one forward and two backward passes, less the images' gradient."""
    outputs = [value**2 for value in sides(side, len(numbered(named, "conv")))[:-1]]
    products = [
        2.0 * count * area * np.prod(named[name + "_weight"]) for name, area in zip(numbered(named, "conv"), outputs)
    ]
    products += [2.0 * count * np.prod(named[name + "_weight"]) for name in numbered(named, "dense")]
    return float(3 * sum(products) - products[0])


def elements(named):
    """Count the parameters."""
    return int(sum(np.prod(shape) for shape in named.values()))
