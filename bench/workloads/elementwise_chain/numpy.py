"""Implements elementwise-chain in NumPy: operations write into the arrays of earlier ones."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference


def chain(parameters, inputs):
    output = inputs * parameters["scale"]
    above = np.maximum(output, parameters["floor"])
    above -= inputs
    output *= above
    np.minimum(output, inputs, out=output)
    output += above
    np.maximum(output, inputs, out=output)
    output *= above
    return {"output": output}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
