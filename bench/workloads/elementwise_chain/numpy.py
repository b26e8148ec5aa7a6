"""Implements elementwise-chain in NumPy: operations write into the arrays of earlier ones."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference


def chain(parameters, inputs):
    affine = inputs * parameters["scale"]
    affine += parameters["shift"]
    output = np.tanh(affine)
    affine *= affine
    np.negative(affine, out=affine)
    np.exp(affine, out=affine)
    output *= affine
    output += inputs
    return {"output": output}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
