"""Implements layernorm-softmax in Theano."""

from __future__ import annotations

from theano import tensor

from ...frameworks.theano.adapter import inference
from . import EPSILON


def normalise(variables, inputs):
    centred = inputs - inputs.mean(axis=1, keepdims=True)
    inverse = 1 / tensor.sqrt(tensor.sqr(centred).mean(axis=1, keepdims=True) + EPSILON)
    return {"probabilities": tensor.nnet.softmax(centred * inverse * variables["scale"] + variables["shift"])}


def build(size, parameters, batch, transform):
    return inference(normalise, parameters, transform)
