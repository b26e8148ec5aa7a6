"""Implements mlp-train in NumPy, its gradients written by hand."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import training
from ...frameworks.numpy.programs import cross_entropy
from . import OPTIMIZER


def loss_and_gradients(parameters, activations, labels):
    count = len(parameters) // 2
    inputs = []
    for index in range(count):
        inputs.append(activations)
        activations = activations @ parameters["weight%d" % index]
        activations += parameters["bias%d" % index]
        if index < count - 1:
            np.maximum(activations, 0, out=activations)
    loss, gradient = cross_entropy(activations, labels)
    gradients = {}
    for index in reversed(range(count)):
        gradients["weight%d" % index] = inputs[index].T @ gradient
        gradients["bias%d" % index] = gradient.sum(axis=0)
        if index:
            gradient = gradient @ parameters["weight%d" % index].T
            gradient *= inputs[index] > 0
    return loss, gradients


def build(size, parameters, batch, transform):
    return training(loss_and_gradients, parameters, transform, OPTIMIZER)
