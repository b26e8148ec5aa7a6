"""Implements resnet18-train in Haiku: the network of resnet18, which keeps its running statistics as state.

The running variance of hk.BatchNorm is biased. It is, from its first value on, the specification's divided by a factor.
"""

from __future__ import annotations

import functools

import numpy as np

from ...frameworks.haiku.adapter import training
from .. import resnet
from ..resnet18.haiku import paths, predict, shaped
from . import OPTIMIZER, initial_state


def factors(size):
    """Return by what the running statistics of hk.BatchNorm are multiplied to be those of the specification."""
    found = {}
    for layer, side in resnet.convolutions(size):
        count = size["batch"] * side**2
        found[layer.name + ".mean"], found[layer.name + ".variance"] = 1, count / (count - 1)
    return found


def build(size, parameters, batch, transform):
    found, states = paths(size)
    modules = {name: module for name, (module, _) in states.items()}
    scaled = factors(size)
    kept = {}
    for name, value in shaped(initial_state(size)).items():
        value = value / scaled[name]
        kept[modules[name]] = {"counter": np.int32(0), "hidden": value, "average": value}
    model = functools.partial(predict, size, training=True)
    program = training(model, found, shaped(parameters), transform, OPTIMIZER, kept=kept, layout="NHWC")

    def current():
        values = program.parameters()
        named = {name: values[name].reshape(value.shape) for name, value in parameters.items()}
        # The average that Haiku shows is divided by what the first steps lack, as if it had begun with 0.
        named.update((name, factor * values[modules[name]]["hidden"].ravel()) for name, factor in scaled.items())
        return named

    return program._replace(parameters=current)
