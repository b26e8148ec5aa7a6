"""Implements mlp-train in Haiku: hk.nets.MLP."""

from __future__ import annotations

import haiku as hk

from ...frameworks.haiku.adapter import training
from ...frameworks.haiku.programs import KINDS
from . import OPTIMIZER, widths


def build(size, parameters, batch, transform):
    def predict(inputs):
        return hk.nets.MLP(widths(size)[1:])(inputs)

    paths = {name: ("mlp/~/linear_" + name[-1], KINDS[name[:-1]]) for name in parameters}
    return training(predict, paths, parameters, transform, OPTIMIZER)
