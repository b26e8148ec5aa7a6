"""Implements layernorm-softmax-backward in NumPy, its gradients written by hand: operations write into two arrays."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference
from ..layernorm_softmax import EPSILON


def differentiate(parameters, inputs, gradient):
    columns, scale = inputs.shape[-1], parameters["scale"]
    normal = inputs - inputs.mean(axis=-1, keepdims=True)
    inverse = 1 / np.sqrt(products(normal, normal) / columns + EPSILON)
    normal *= inverse
    rows = normal * scale
    rows += parameters["shift"]
    rows -= rows.max(axis=-1, keepdims=True)
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=-1, keepdims=True)
    # From here on they are gradients: of the logits, of the normal rows, of the inputs.
    mean = products(rows, gradient)
    rows *= gradient - mean
    found = {"scale": np.einsum("rc,rc->c", rows, normal), "shift": rows.sum(axis=0)}
    rows *= scale
    normal *= products(rows, normal) / columns
    rows -= rows.mean(axis=-1, keepdims=True)
    rows -= normal
    rows *= inverse
    return dict(found, inputs=rows)


def products(left, right):
    """Compute the inner product of each row (rows, 1); einsum allocates no array for what it adds."""
    return np.einsum("rc,rc->r", left, right)[:, None]


def build(size, parameters, batch, transform):
    return inference(differentiate, parameters, transform)
