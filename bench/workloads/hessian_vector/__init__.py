"""Specifies hessian-vector: the Hessian of a perceptron's loss times a vector, without the Hessian itself.

The perceptron has tanh between its layers. A batch has a vector for every parameter, in their order, after its inputs
and labels.
"""

from __future__ import annotations

import numpy as np

from .. import mlp_train
from ..mlp_train import items, parameters, widths

__all__ = ["items", "parameters"]

ITEM = "row"
SIZES = mlp_train.SIZES
PRECISIONS = ("float32",)
TRAINING = False


def batch(size, random, source=None):
    """Draw inputs (batch, inputs), labels (batch,), and for each parameter a vector of its shape, standard normal."""
    drawn = mlp_train.batch(size, random)
    shapes = [value.shape for value in parameters(size, random).values()]
    return (*drawn, *(random.standard_normal(shape).astype(np.float32) for shape in shapes))


def reference(size, parameters, batch):
    """Compute the product (Pearlmutter 1994): ``moved`` is the derivative of a value along the vector."""
    activations, labels, *vectors = batch
    count, rows = len(parameters) // 2, len(labels)
    weights = [parameters["weight%d" % index] for index in range(count)]
    inputs, moved = [], np.zeros_like(activations)
    for index in range(count):
        inputs.append((activations, moved))
        moved = moved @ weights[index] + activations @ vectors[2 * index] + vectors[2 * index + 1]
        activations = activations @ weights[index] + parameters["bias%d" % index]
        if index < count - 1:
            activations = np.tanh(activations)
            moved = (1 - activations**2) * moved
    shares = np.exp(activations - activations.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    turned = shares * (moved - (shares * moved).sum(axis=-1, keepdims=True)) / rows
    gradient = (shares - np.eye(shares.shape[-1], dtype=shares.dtype)[labels]) / rows
    products = {}
    for index in reversed(range(count)):
        activations, moved = inputs[index]
        products["weight%d" % index] = moved.T @ gradient + activations.T @ turned
        products["bias%d" % index] = turned.sum(axis=0)
        if index:
            turned = turned @ weights[index].T + gradient @ vectors[2 * index].T
            gradient = gradient @ weights[index].T
            slopes = 1 - activations**2
            turned, gradient = slopes * turned - 2 * activations * moved * gradient, slopes * gradient
    return products


def useful_flops(size):
    """Count the products of matrices: eight of each layer, three of the first, whose inputs do not move."""
    shape = widths(size)
    products = [2.0 * size["batch"] * rows * columns for rows, columns in zip(shape, shape[1:])]
    return 8 * sum(products) - 5 * products[0]


def compulsory_bytes(size, itemsize):
    """Count parameters, vectors and inputs read and the product written once."""
    shape = widths(size)
    count = sum(rows * columns + columns for rows, columns in zip(shape, shape[1:]))
    return float(itemsize) * (3 * count + size["batch"] * size["inputs"])
