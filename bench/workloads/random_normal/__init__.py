"""Specifies random-normal: standard normal draws, from each framework's own generator.

They are compared with the distribution, and for being independent of each other and of the step before.
"""

from __future__ import annotations

from ..random_draws import PRECISIONS, SIZES, batch, compulsory_bytes, expected, items, parameters

__all__ = ["PRECISIONS", "SIZES", "batch", "compulsory_bytes", "items", "parameters"]

ITEM = "draw"
TRAINING = False
#: For a draw: its scale, a logarithm or its like, and a root or its like, each counted as one.
OPERATIONS = 3


def reference(size, parameters, batch):
    return expected("normal", size)


def useful_flops(size):
    return float(OPERATIONS * size["draws"])
