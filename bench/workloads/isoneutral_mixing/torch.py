"""Implements isoneutral-mixing in PyTorch: the specification's formulas with the functions of torch."""

from __future__ import annotations

from ..equation_of_state.torch import evaluated
from . import NAMES, advance


def build(size, parameters, batch, transform):
    def formulas(operations, *batch):
        return advance(operations, parameters, *batch)

    return evaluated(formulas, batch, transform, NAMES)
