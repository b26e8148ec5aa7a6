"""Implements transcendental-chain in Theano, which fuses its operations into one loop."""

from __future__ import annotations

from theano import tensor

from ...frameworks.theano.adapter import inference
from . import OFFSET


def chain(variables, inputs):
    affine = inputs * variables["scale"] + variables["shift"]
    square = affine * affine
    return {"output": tensor.tanh(affine) * tensor.exp(-square) + tensor.log(square + OFFSET)}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
