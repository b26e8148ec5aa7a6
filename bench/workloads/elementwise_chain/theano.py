"""Implements elementwise-chain in Theano, which fuses its operations into one loop."""

from __future__ import annotations

from theano import tensor

from ...frameworks.theano.adapter import inference


def chain(variables, inputs):
    scaled = inputs * variables["scale"]
    above = tensor.maximum(scaled, variables["floor"]) - inputs
    return {"output": tensor.maximum(tensor.minimum(scaled * above, inputs) + above, inputs) * above}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
