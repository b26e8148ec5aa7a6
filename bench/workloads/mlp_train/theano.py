"""Implements mlp-train in Theano: shared variables and one function for a step."""

from __future__ import annotations

from theano import tensor

from ...frameworks.theano.adapter import training
from . import OPTIMIZER


def loss(variables, inputs, labels):
    count, activations = len(variables) // 2, inputs
    for index in range(count):
        activations = tensor.dot(activations, variables["weight%d" % index]) + variables["bias%d" % index]
        if index < count - 1:
            activations = tensor.nnet.relu(activations)
    return tensor.nnet.categorical_crossentropy(tensor.nnet.softmax(activations), labels).mean()


def build(size, parameters, batch, transform):
    return training(loss, parameters, transform, OPTIMIZER)
