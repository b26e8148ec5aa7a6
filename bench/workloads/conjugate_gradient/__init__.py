"""Specifies conjugate-gradient: iterations of the method of conjugate gradients for a linear system on a square grid.

The matrix is the five-point Laplacian plus a shift, as in a step of implicit diffusion: it maps a grid to
``(4 + shift) · grid - (sum of the four neighbours)``, with zeros around the grid. The first solution is zero.
"""

from __future__ import annotations

import numpy as np

from ..grid import SIZES, batch, compulsory_bytes, items, neighbours, points

__all__ = ["SIZES", "batch", "compulsory_bytes", "items"]

ITEM = "iteration"
PRECISIONS = ("float32", "float64")
TRAINING = False


def parameters(size, random):
    """Draw the shift, a number; the larger it is, the faster the method converges."""
    return {"shift": np.array(random.uniform(0.01, 0.02), np.float32)}


def reference(size, parameters, batch):
    """Compute the solution (side, side) after the iterations (Hestenes & Stiefel 1952) in the dtype of ``batch``."""
    (residual,) = batch
    shift = parameters["shift"]
    solution, direction = np.zeros_like(residual), residual
    energy = (residual * residual).sum()
    for _ in range(size["iterations"]):
        product = (4 + shift) * direction - neighbours(direction)
        length = energy / (direction * product).sum()
        solution = solution + length * direction
        residual = residual - length * product
        previous, energy = energy, (residual * residual).sum()
        direction = residual + energy / previous * direction
    return {"solution": solution}


def useful_flops(size):
    """Count five operations of the matrix, four of two scalar products and six of three updates for each point."""
    return 15.0 * points(size)
