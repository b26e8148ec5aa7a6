"""Specifies hessian-vector: the Hessian of a perceptron's loss times a vector, without the Hessian itself.

The perceptron has tanh between its layers. A batch has a vector for every parameter, in their order, after its inputs
and labels.
"""

from __future__ import annotations

import numpy as np

from ...differentiation import hessian_vector
from .. import layers, mlp_train
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


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy in the dtype of ``parameters``."""
    activations, labels = batch
    last = len(parameters) // 2 - 1
    for index in range(last + 1):
        activations = activations @ parameters["weight%d" % index] + parameters["bias%d" % index]
        if index < last:
            activations = np.tanh(activations)
    return layers.cross_entropy(activations, labels), state


def reference(size, parameters, batch):
    activations, labels, *vectors = batch
    return hessian_vector(loss, size, parameters, (activations, labels), dict(zip(parameters, vectors)))


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
