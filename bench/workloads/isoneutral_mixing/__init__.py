"""Specifies isoneutral-mixing: the diffusion of an ocean model along surfaces of equal density.

At each face of a cell, several triads of neighbours give a slope of those surfaces each; steep slopes are tapered
(Griffies et al. 1998; Danabasoglu and McWilliams 1995). Outputs are the diffusivities of the faces and the tapered
slopes, without two rows and columns at each side. Levels begin at the bottom; every column has land below some level.
"""

from __future__ import annotations

import numpy as np

from ..ocean import NUMPY, PRECISIONS, SIZES, along, inner_points, inside, items, uniform, water

__all__ = ["PRECISIONS", "SIZES", "items"]

ITEM = "point"
TRAINING = False
#: Reference density in kg/m³, gravity in m/s².
DENSITY, GRAVITY = 1024.0, 9.81
#: Thermal expansion in 1/K at ``WARMTH`` °C and no pressure, its growth by temperature in 1/K² and by pressure in 1/Pa;
#: contraction by salinity in kg/g (Vallis 2006, section 1.4).
EXPANSION, BY_TEMPERATURE, BY_PRESSURE, WARMTH, CONTRACTION = 1.67e-4, 1e-5, 1.1e-8, 9.85, 0.78e-3
#: The slope with half of the diffusivity, the width of the taper, the least diffusivity in m²/s, and a gradient of
#: density (kg/m⁴) that counts as none.
CRITICAL, WIDTH, LEAST, NOTHING = 1e-3, 1e-3, 50.0, 1e-20
#: Operations for an inner point; the formulas have 379 in NumPy, of which a compiler need not do all.
OPERATIONS = 300
#: A triad serves a face at a side and one at a top: it could be computed once.
FLOPS_DIVISOR = 2
#: Where slopes are steep, 1 + tanh is a difference of near numbers, which squared slopes enlarge: in float64 XLA's tanh
#: erred by 18 times what NumPy does.
TOLERANCE_FACTOR = 64.0
NAMES = ("east", "east_slopes", "north", "north_slopes", "top", "top_slopes")


def parameters(size, random):
    """Draw the spacings of the grid in m, the cosines of the latitudes, and where there is water, 1 or 0."""
    levels, rows, columns = size["levels"], size["height"], size["width"]
    heights = uniform(random, (levels, 1, 1), 50.0, 150.0)
    return {
        "heights": heights,
        "heights_between": uniform(random, (levels, 1, 1), 50.0, 150.0),
        "depth": (np.cumsum(heights[::-1], axis=0)[::-1] - heights / 2).astype(np.float32),
        "north": uniform(random, (1, rows, 1), 5e4, 1.5e5),
        "north_between": uniform(random, (1, rows, 1), 5e4, 1.5e5),
        "east": uniform(random, (1, 1, columns), 5e4, 1.5e5),
        "east_between": uniform(random, (1, 1, columns), 5e4, 1.5e5),
        "cosine": uniform(random, (1, rows, 1), 0.5, 1.0),
        "cosine_between": uniform(random, (1, rows, 1), 0.5, 1.0),
        "water": water(size, random),
    }


def batch(size, random, source=None):
    """Draw temperature in °C and salinity in g/kg, stably layered in most places, and the diffusivity in m²/s."""
    shape, level = (size["levels"], size["height"], size["width"]), np.arange(size["levels"])[:, None, None]
    temperature = 2.0 + 0.4 * level + 0.3 * random.standard_normal(shape)
    salinity = 36.0 - 0.02 * level + 0.05 * random.standard_normal(shape)
    return temperature.astype(np.float32), salinity.astype(np.float32), uniform(random, shape, 500.0, 1500.0)


def tapered(operations, across, up):
    """Return the slope of equal density from its gradients across and up, and the share that the taper leaves."""
    slope = -across / (operations.at_most(up, 0.0) - NOTHING)
    return slope, 0.5 * (1 + operations.tanh((CRITICAL - operations.absolute(slope)) / WIDTH))


def density(by_temperature, by_salinity, temperature, salinity):
    """Return a gradient of density from those of temperature and salinity."""
    return by_temperature * temperature + by_salinity * salinity


class Cells:
    """Cells with their vertical gradients, and the faces between them along a horizontal axis.

    The cells are those from the second to the last but one along the axis, and the inner ones along the other.
    """

    def __init__(self, operations, axis, spacing, fields):
        """``spacing`` is that of the faces; ``fields`` are of all points, see ``advance``."""
        rows, columns = (slice(1, -1), slice(2, -2)) if axis == 1 else (slice(2, -2), slice(1, -1))
        self.operations, self.axis, self.spacing = operations, axis, spacing
        band = {name: field[:, rows, columns] for name, field in fields.items()}
        self.by_temperature, self.by_salinity = band["by_temperature"], band["by_salinity"]
        self.rising = band["temperature_up"], band["salinity_up"]
        self.wet = self.left(band["water"]) * self.right(band["water"])
        self.across = tuple(
            self.wet * (self.right(band[name]) - self.left(band[name])) / spacing
            for name in ("temperature", "salinity")
        )
        pair = 0.5 * (self.left(band["diffusivity"]) + self.right(band["diffusivity"]))
        self.diffusivity = operations.concatenate([pair[:1], 0.5 * (pair[1:] + pair[:-1])], 0)

    def left(self, array):
        return along(array, self.axis, None, -1)

    def right(self, array):
        return along(array, self.axis, 1, None)


def on_sides(cells, grid):
    """Return diffusivity and slopes of the faces along the axis of ``cells``, whose triads reach down and up."""
    slopes, weights, operations = [], [], cells.operations
    nothing = 0 * cells.wet[:1]
    for upper in (0, 1):
        # The lowest level has no triad that reaches down, the highest one that reaches up to a face without gradient.
        start = 1 - upper
        stop = cells.wet.shape[0] - 1 + upper
        wet, heights = cells.wet[start:], grid["heights_between"][:stop]
        for side in (cells.left, cells.right):
            by = side(cells.by_temperature)[start:], side(cells.by_salinity)[start:]
            up = density(*by, *(side(gradient)[:stop] for gradient in cells.rising))
            slope, share = tapered(operations, density(*by, *(gradient[start:] for gradient in cells.across)), up)
            weight = heights * wet * operations.at_least(share * cells.diffusivity[start:], LEAST)
            parts = weight, share * slope * wet
            if not upper:
                parts = tuple(operations.concatenate([nothing, part], 0) for part in parts)
            weights.append(parts[0])
            slopes.append(parts[1])
    return sum(weights[1:], weights[0]) / (4 * grid["heights"]), operations.stack(slopes, 0)


def on_tops(cells, fields, lengths):
    """Return the sum over triads of diffusivity times squared slope, and slopes, of faces between levels.

    ``lengths`` weighs the faces along the axis of ``cells``.
    """
    slopes, total, operations = [], 0, cells.operations
    water = inside(fields["water"])
    wet, diffusivity = water[:-1] * water[1:], inside(fields["diffusivity"])[:-1]
    rising = [inside(fields[name])[:-1] for name in ("temperature_up", "salinity_up")]
    for upper in (0, 1):
        levels = slice(upper, water.shape[0] - 1 + upper)
        by = [inside(fields[name])[levels] for name in ("by_temperature", "by_salinity")]
        up = density(*by, *rising)
        for side in (cells.left, cells.right):
            across = density(*by, *(side(gradient)[levels] for gradient in cells.across))
            slope, share = tapered(operations, across, up)
            slopes.append(share * slope * wet)
            total = total + side(lengths) * diffusivity * slopes[-1] * slope
    return total, operations.stack(slopes, 0)


def advance(operations, grid, temperature, salinity, diffusivity):
    """Return diffusivities and slopes of the faces to the east, to the north, and between levels."""
    water, between = grid["water"], grid["heights_between"]
    growth = EXPANSION * (1 + BY_PRESSURE * GRAVITY * DENSITY * grid["depth"])
    shown = water[1:] * water[:-1] / between[:-1]
    nothing = 0 * temperature[:1]
    fields = {
        "water": water, "temperature": temperature, "salinity": salinity, "diffusivity": diffusivity,
        "by_temperature": -DENSITY * water * (BY_TEMPERATURE * (temperature - WARMTH) + growth),
        "by_salinity": DENSITY * CONTRACTION * water,
        "temperature_up": operations.concatenate([shown * (temperature[1:] - temperature[:-1]), nothing], 0),
        "salinity_up": operations.concatenate([shown * (salinity[1:] - salinity[:-1]), nothing], 0),
    }  # fmt: skip
    rows = grid["cosine"][:, 2:-2]
    widths = grid["east_between"][:, :, 1:-2]
    east = Cells(operations, 2, widths * rows, fields)
    north = Cells(operations, 1, grid["north_between"][:, 1:-2], fields)
    sums, found = on_tops(east, fields, widths)
    lengths = grid["cosine_between"][:, 1:-2] * grid["north_between"][:, 1:-2]
    other_sums, other = on_tops(north, fields, lengths)
    top = sums / (4 * grid["east"][:, :, 2:-2]) + other_sums / (4 * grid["north"][:, 2:-2] * rows)
    slopes = operations.concatenate([found, other], 0)
    return dict(zip(NAMES, (*on_sides(east, grid), *on_sides(north, grid), top, slopes)))


def reference(size, parameters, batch):
    """Compute diffusivities (levels, rows, columns) and slopes (triads, …) of the faces in the dtype of ``batch``."""
    return advance(NUMPY, parameters, *batch)


def useful_flops(size):
    return float(OPERATIONS * inner_points(size))


def compulsory_bytes(size, itemsize):
    """Count four arrays read, without edges and corners; five values of each face at a side and nine at a top."""
    levels, rows, columns = size["levels"], size["height"] - 4, size["width"] - 4
    read = 4 * levels * (rows * columns + 2 * rows + 2 * columns)
    sides = 5 * levels * (rows * (columns + 1) + (rows + 1) * columns)
    return float(itemsize) * (read + sides + 9 * (levels - 1) * rows * columns)
