"""Specifies turbulent-kinetic-energy: a step of the energy of turbulence in an ocean model.

Energy is mixed along the column and dissipated, implicitly, which is a tridiagonal system for each column; it diffuses
and is carried along by the flow, with Roe's superbee limiter, explicitly (Gaspar et al. 1990). Outputs are without two
rows and columns at each side. Levels begin at the bottom; every column has land below some level.
"""

from __future__ import annotations

import numpy as np

from ..ocean import NUMPY, PRECISIONS, SIZES, along, inner_points, inside, items, points, uniform, water

__all__ = ["PRECISIONS", "SIZES", "items"]

ITEM = "point"
TRAINING = False
#: Seconds of a step; dissipation, lateral diffusivity, and the weight by which Adams and Bashforth's step is damped.
STEP, DISSIPATION, LATERAL, DAMPING = 1.0, 0.7, 0.2, 0.1
#: A difference of neighbours below this counts as this.
LEAST = 1e-20
#: Operations for an inner point; the formulas have 96 in NumPy, of which a compiler need not do all.
OPERATIONS = 80


def parameters(size, random):
    """Draw the spacings and cosines of the grid, near 1, and where there is water, 1 or 0."""
    levels, rows, columns = size["levels"], size["height"], size["width"]
    return {
        "centres": uniform(random, (levels, 1, 1), 0.5, 1.5),
        "faces": uniform(random, (levels, 1, 1), 0.5, 1.5),
        "north": uniform(random, (1, rows, 1), 0.5, 1.5),
        "east": uniform(random, (1, 1, columns), 0.5, 1.5),
        "cosine": uniform(random, (1, rows, 1), 0.5, 1.0),
        "water": water(size, random),
    }


def batch(size, random, source=None):
    """Draw energy, flow to the east, the north and the top, viscosity, mixing length, forcing, and the last trend."""
    shape = (size["levels"], size["height"], size["width"])
    inner = (size["levels"], size["height"] - 4, size["width"] - 4)
    flow = [0.3 * random.standard_normal(shape).astype(np.float32) for _ in range(3)]
    drawn = (uniform(random, inner, 0.1, 1.0), uniform(random, inner, 0.5, 2.0), uniform(random, inner, -0.5, 0.5))
    surface = uniform(random, inner[1:], -2.0, 1.0)
    return (uniform(random, shape, 0.0, 1.0), *flow, *drawn, surface, uniform(random, inner, -0.1, 0.1))


def solve(operations, lower, diagonal, upper, right):
    """Solve a tridiagonal system along the levels for each column (Thomas 1949)."""
    ratios, rights = [], []
    for level in range(diagonal.shape[0]):
        divisor, known = diagonal[level], right[level]
        if level:
            divisor = divisor - lower[level] * ratios[-1]
            known = known - lower[level] * rights[-1]
        ratios.append(upper[level] / divisor)
        rights.append(known / divisor)
    found = [rights.pop()]
    for ratio in ratios[-2::-1]:
        found.append(rights.pop() - ratio * found[-1])
    return operations.stack(found[::-1], 0)


def mixed(operations, grid, energy, viscosity, length, forcing, surface):
    """Solve for the energy after mixing and dissipation; return it and what the surface lacked."""
    water, old = inside(grid["water"]), inside(energy)
    heights = operations.concatenate([grid["faces"][:-1], 0.5 * grid["faces"][-1:]], 0)
    conducted = 0.5 * STEP * water[:-1] * (viscosity[:-1] + viscosity[1:]) / grid["centres"][1:]
    nothing = 0 * conducted[:1]
    below = operations.concatenate([nothing, conducted], 0) / heights
    above = operations.concatenate([conducted, nothing], 0) / heights
    diagonal = 1 + below + above + STEP * DISSIPATION * operations.sqrt(operations.at_least(old, 0.0)) / length
    right = old + STEP * forcing
    top = right[-1:] + STEP * surface[None] / heights[-1:]
    right = operations.concatenate([right[:-1], top], 0)
    found = operations.where(water > 0.5, solve(operations, -below, diagonal, -above, right), old)
    kept = operations.at_least(found[-1:], 0.0)
    lacked = (kept - found[-1:]) * heights[-1:] / STEP
    return operations.concatenate([found[:-1], kept], 0), lacked[0]


def framed(operations, nothing, levels):
    """Put a level of zeros, ``nothing``, below and above ``levels``."""
    if operations.framed:
        return operations.framed(levels)
    return operations.concatenate([nothing, levels, nothing], 0)


def flux(operations, axis, flow, energy, water, courant):
    """Return the flux through the faces between the second and the last but one point of an axis.

    ``flow`` and ``courant``, the step over the spacing, are those of the faces.
    """
    change = (along(energy, axis, 1, None) - along(energy, axis, None, -1)) * (
        along(water, axis, 1, None) * along(water, axis, None, -1)
    )
    before, here, after = (along(change, axis, start, stop) for start, stop in ((0, -2), (1, -1), (2, None)))
    divisor = operations.where(operations.absolute(here) < LEAST, 0 * here + LEAST, here)
    ratio = operations.where(flow > 0, before, after) / divisor
    first, second = operations.at_most(2 * ratio, 1.0), operations.at_most(ratio, 2.0)
    limit = operations.at_least(operations.where(first > second, first, second), 0.0)
    speed = operations.absolute(flow)
    mean = along(energy, axis, 2, -1) + along(energy, axis, 1, -2)
    return 0.5 * (flow * mean - speed * (1 - limit + courant * speed * limit) * here)


def carried(operations, grid, energy, flows):
    """Return the change of the energy for each second by what flows in and out."""
    water, cosine = grid["water"], grid["cosine"]
    rows, columns = cosine[:, 2:-2], slice(2, -2)
    across = rows * grid["east"][:, :, 1:-2]
    east = flux(operations, 2, flows[0][:, 2:-2, 1:-2], energy[:, 2:-2], water[:, 2:-2], STEP / across)
    faces = cosine[:, 1:-2]
    north = flux(
        operations, 1, faces * flows[1][:, 1:-2, columns], energy[:, :, columns], water[:, :, columns],
        STEP / (faces * grid["north"][:, 1:-2]),
    )  # fmt: skip
    column, wet = inside(energy), inside(water)
    nothing = 0 * column[:1]
    column, framed_wet = framed(operations, nothing, column), framed(operations, nothing, wet)
    rising = flux(operations, 0, inside(flows[2])[:-1], column, framed_wet, STEP / grid["faces"][:-1])
    rising = framed(operations, nothing, rising)
    heights = operations.concatenate([grid["faces"][:-1], 0.5 * grid["faces"][-1:]], 0)
    left = (east[:, :, 1:] - east[:, :, :-1]) / (rows * grid["east"][:, :, 2:-2])
    left = left + (north[:, 1:] - north[:, :-1]) / (rows * grid["north"][:, 2:-2])
    return -wet * (left + (rising[1:] - rising[:-1]) / heights)


def diffused(grid, energy):
    """Return the change of the energy for each second by lateral diffusion."""
    water, cosine = grid["water"], grid["cosine"]
    rows = cosine[:, 2:-2]
    band, wet = energy[:, 2:-2, 1:-1], water[:, 2:-2, 1:-1]
    east = (band[:, :, 1:] - band[:, :, :-1]) * (wet[:, :, 1:] * wet[:, :, :-1]) / (rows * grid["east"][:, :, 1:-2])
    band, wet = energy[:, 1:-1, 2:-2], water[:, 1:-1, 2:-2]
    north = (band[:, 1:] - band[:, :-1]) * (wet[:, 1:] * wet[:, :-1]) * (cosine[:, 1:-2] / grid["north"][:, 1:-2])
    left = (east[:, :, 1:] - east[:, :, :-1]) / (rows * grid["east"][:, :, 2:-2])
    return LATERAL * inside(water) * (left + (north[:, 1:] - north[:, :-1]) / (rows * grid["north"][:, 2:-2]))


def advance(operations, grid, energy, east, north, up, viscosity, length, forcing, surface, last):
    """Return the new energy, its trend by the flow, and what the surface lacked."""
    found, lacked = mixed(operations, grid, energy, viscosity, length, forcing, surface)
    trend = carried(operations, grid, energy, (east, north, up))
    found = found + STEP * (diffused(grid, energy) + (1.5 + DAMPING) * trend - (0.5 + DAMPING) * last)
    return {"energy": found, "trend": trend, "lacked": lacked}


def reference(size, parameters, batch):
    """Compute energy, trend (levels, rows - 4, columns - 4) and what the surface lacked in the dtype of ``batch``."""
    return advance(NUMPY, parameters, *batch)


def useful_flops(size):
    return float(OPERATIONS * inner_points(size))


def compulsory_bytes(size, itemsize):
    """Count four whole arrays and four inner ones read, water read, and two inner arrays written."""
    return float(itemsize) * (5 * points(size) + 6 * inner_points(size))
