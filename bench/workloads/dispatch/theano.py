"""Implements dispatch in Theano: a Python loop, which unrolls into one graph."""

from __future__ import annotations

from theano import tensor

from ...frameworks.theano.adapter import inference
from . import cycle


def build(size, parameters, batch, transform):
    def chain(variables, values):
        links = cycle(size, variables)
        for _ in range(size["cycles"]):
            for weight, bias, offset in links:
                values = tensor.tanh(values * weight + bias) - offset
        return {"values": values}

    return inference(chain, parameters, transform)
