"""Implements hessian-vector in NumPy with the formulas of Pearlmutter (1994)."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference


def build(size, parameters, batch, transform):
    return inference(product, parameters, transform)


def product(parameters, activations, labels, *vectors):
    """Compute the product (Pearlmutter 1994): ``moved`` is the derivative of a value along the vector."""
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
