"""Implements per-sample-gradients in NumPy: outer products of activations and their gradients, written by hand."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference


def differentiate(parameters, activations, labels):
    count, inputs = len(parameters) // 2, []
    for index in range(count):
        inputs.append(activations)
        activations = activations @ parameters["weight%d" % index] + parameters["bias%d" % index]
        if index < count - 1:
            np.maximum(activations, 0, out=activations)
    gradient = np.exp(activations - activations.max(axis=-1, keepdims=True))
    gradient /= gradient.sum(axis=-1, keepdims=True)
    gradient[np.arange(len(labels)), labels] -= 1
    found = {}
    for index in reversed(range(count)):
        found["weight%d" % index] = inputs[index][:, :, None] * gradient[:, None, :]
        found["bias%d" % index] = gradient
        if index:
            gradient = gradient @ parameters["weight%d" % index].T
            gradient *= inputs[index] > 0
    return found


def build(size, parameters, batch, transform):
    return inference(differentiate, parameters, transform)
