"""Implements gemm in Theano: tensor.dot."""

from __future__ import annotations

from theano import tensor

from ...frameworks.theano.adapter import inference


def multiply(variables, left, right):
    return {"product": tensor.dot(left, right)}


def build(size, parameters, batch, transform):
    return inference(multiply, parameters, transform)
