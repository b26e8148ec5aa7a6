"""Implements conjugate-gradient in NumPy: in place, with BLAS for the scalar products."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference
from ..stencil.numpy import neighbours


def build(size, parameters, batch, transform):
    def solve(parameters, right):
        centre = 4 + parameters["shift"]
        residual, solution = right.copy(), np.zeros_like(right)
        # A frame of zeros surrounds the direction.
        framed = np.pad(right, 1)
        direction, around = framed[1:-1, 1:-1], neighbours(framed)
        product, moved = np.empty_like(right), np.empty_like(right)
        energy = np.vdot(residual, residual)
        for _ in range(size["iterations"]):
            np.multiply(direction, centre, out=product)
            for neighbour in around:
                product -= neighbour
            length = energy / np.vdot(direction, product)
            solution += np.multiply(direction, length, out=moved)
            residual -= np.multiply(product, length, out=moved)
            previous, energy = energy, np.vdot(residual, residual)
            direction *= energy / previous
            direction += residual
        return {"solution": solution}

    return inference(solve, parameters, transform)
