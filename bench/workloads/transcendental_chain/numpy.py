"""Implements transcendental-chain in NumPy: operations write into the arrays of earlier ones."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference
from . import OFFSET


def chain(parameters, inputs):
    affine = inputs * parameters["scale"]
    affine += parameters["shift"]
    output = np.tanh(affine)
    affine *= affine
    output *= np.exp(-affine)
    affine += OFFSET
    np.log(affine, out=affine)
    output += affine
    return {"output": output}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
