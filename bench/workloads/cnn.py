"""Computes the small convolutional networks of the specifications: shapes, initial values, loss and work.

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
    """Compute the logits (batch, classes)."""
    activations = images
    for name in numbered(parameters, "conv"):
        activations = convolution.block(activations, parameters[name + "_weight"], parameters[name + "_bias"])
    activations = activations.reshape(len(images), -1)
    dense = numbered(parameters, "dense")
    for name in dense:
        activations = activations @ parameters[name + "_weight"] + parameters[name + "_bias"]
        if name != dense[-1]:
            activations = layers.relu(activations)
    return activations


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy of ``(images, labels)`` in the dtype of ``parameters``."""
    images, labels = batch
    return layers.cross_entropy(forward(parameters, images), labels), state


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
