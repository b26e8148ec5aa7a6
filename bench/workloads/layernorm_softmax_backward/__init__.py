"""Specifies layernorm-softmax-backward: layernorm-softmax and its backward pass, for a given gradient of the outputs.

A step computes the vector-Jacobian product: the gradients of inputs, scale and shift. It needs the forward pass, which
is part of it.
"""

from __future__ import annotations

import numpy as np

from ...differentiation import loss_and_gradients
from .. import layernorm_softmax
from ..layernorm_softmax import ITEM, PRECISIONS, SIZES, items, parameters

__all__ = ["ITEM", "PRECISIONS", "SIZES", "items", "parameters"]

TRAINING = False


def batch(size, random, source=None):
    """Draw the rows of layernorm-softmax, and a standard normal gradient of the probabilities, both (rows, columns)."""
    (inputs,) = layernorm_softmax.batch(size, random)
    return inputs, random.standard_normal(inputs.shape).astype(np.float32)


def reference(size, parameters, batch):
    """Compute the gradients of inputs (rows, columns), scale and shift (columns,) in the dtype of ``parameters``."""
    inputs, gradient = batch
    return loss_and_gradients(weighted, size, dict(parameters, inputs=inputs), {}, (gradient,))[2]


def weighted(size, parameters, state, batch):
    """Compute the sum of the probabilities, weighted with a gradient: its own gradients are the product."""
    found = layernorm_softmax.reference(size, parameters, (parameters["inputs"],))
    return (found["probabilities"] * batch[0]).sum(), state


def useful_flops(size):
    """Count layernorm-softmax, and 15 operations per element and 2 per row of its backward pass.

    Per element: product, sum, subtract, product for the softmax; sum for the shift; product and sum for the scale;
    product with the scale; sum, product, sum, product, subtract twice, product for the normalisation. Per row: two
    divisions for the means.
    """
    return layernorm_softmax.useful_flops(size) + float(size["rows"] * (15 * size["columns"] + 2))


def compulsory_bytes(size, itemsize):
    """Count rows, gradient, scale and shift read and the three gradients written once."""
    return float(itemsize) * (3 * size["rows"] * size["columns"] + 4 * size["columns"])
