"""Specifies stencil: iterations of a five-point stencil on a square grid: explicit diffusion in two dimensions.

An iteration gives every point ``(1 - 4 · rate) · point + rate · (sum of its four neighbours)``; around the grid are
zeros.
"""

from __future__ import annotations

import numpy as np

from ..grid import SIZES, batch, compulsory_bytes, items, neighbours, points

__all__ = ["SIZES", "batch", "compulsory_bytes", "items"]

ITEM = "iteration"
PRECISIONS = ("float32", "float64")
TRAINING = False


def parameters(size, random):
    """Draw the rate, a number; diffusion is stable below 0.25."""
    return {"rate": np.array(random.uniform(0.1, 0.2), np.float32)}


def reference(size, parameters, batch):
    """Compute the grid (side, side) after the iterations in the dtype of ``batch``."""
    (grid,) = batch
    rate = parameters["rate"]
    for _ in range(size["iterations"]):
        grid = (1 - 4 * rate) * grid + rate * neighbours(grid)
    return {"grid": grid}


def useful_flops(size):
    """Count four additions and two products for each point."""
    return 6.0 * points(size)
