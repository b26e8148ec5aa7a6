"""Specifies random-uniform: uniform draws from 0 to 1, from each framework's own generator.

They are compared with the distribution, and for being independent of each other and of the step before.
"""

from __future__ import annotations

from ..random_draws import PRECISIONS, SIZES, batch, compulsory_bytes, expected, items, parameters

__all__ = ["PRECISIONS", "SIZES", "batch", "compulsory_bytes", "items", "parameters"]

ITEM = "draw"
TRAINING = False


def reference(size, parameters, batch):
    return expected("uniform", size)


def useful_flops(size):
    """Count the scale of each draw; the generator's work is on integers."""
    return float(size["draws"])
