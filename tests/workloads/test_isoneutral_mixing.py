"""Tests isoneutral-mixing against its definition for single faces, against fields with known slopes, and its work."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from operation_counts import operations

from bench.registry import BUILT_IN
from bench.workloads import ocean

specification = BUILT_IN.specification("isoneutral-mixing")
SIZE = {"levels": 5, "height": 8, "width": 9}


def drawn(size=SIZE, seed=11):
    random = np.random.RandomState(seed)
    grid = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    return grid, [array.astype(np.float64) for array in specification.batch(size, random)]


def tilted(tilt, size=SIZE):
    """Return a regular grid without land, and water whose temperature alone falls along rows and rises by levels."""
    grid, (temperature, salinity, diffusivity) = drawn(size)
    grid = {name: np.ones_like(value) for name, value in grid.items()}
    level, row = np.arange(size["levels"])[:, None, None], np.arange(size["height"])[None, :, None]
    layered = 5.0 + 0.4 * (level - tilt * row) + 0 * temperature
    return grid, (layered, 0 * salinity + 35.0, diffusivity)


class Point:
    """The definition for one triad: a cell, the face beside it along an axis, and the one above or below it."""

    def __init__(self, grid, batch):
        self.grid, (self.temperature, self.salinity, self.diffusivity) = grid, batch

    def gradient(self, field, place, axis, spacing):
        beyond = tuple(at + (one == axis) for one, at in enumerate(place))
        if beyond[axis] >= field.shape[axis]:
            return 0.0
        water = self.grid["water"]
        return water[place] * water[beyond] * (field[beyond] - field[place]) / spacing

    def triad(self, cell, axis, face, below):
        """Return slope and share of the triad of ``cell``, the face after ``face`` and the one above ``below``."""
        warmth, depth = self.temperature[cell], self.grid["depth"][cell[0], 0, 0]
        by_temperature = -(1e-5 * (warmth - 9.85) + 1.67e-4 * (1 + 1.1e-8 * 9.81 * 1024.0 * depth))
        cosine, east = self.grid["cosine"][0, face[1], 0], self.grid["east_between"][0, 0, face[2]]
        spacing = self.grid["north_between"][0, face[1], 0] if axis == 1 else east * cosine
        height = self.grid["heights_between"][below[0], 0, 0]
        across, up = (
            1024.0
            * self.grid["water"][cell]
            * (
                by_temperature * self.gradient(self.temperature, place, along, step)
                + 0.78e-3 * self.gradient(self.salinity, place, along, step)
            )
            for place, along, step in ((face, axis, spacing), (below, 0, height))
        )
        slope = -across / (min(0.0, up) - 1e-20)
        return slope, 0.5 * (1 + math.tanh((1e-3 - abs(slope)) / 1e-3))

    def side(self, face, axis):
        """Return the diffusivity of the face after the cell ``face`` along an axis."""
        level = face[0]
        cells = [face, tuple(at + (one == axis) for one, at in enumerate(face))]
        levels = [level, level - 1] if level else [level]
        local = np.mean([self.diffusivity[(at, *cell[1:])] for cell in cells for at in levels])
        wet = self.grid["water"][cells[0]] * self.grid["water"][cells[1]]
        total = 0.0
        for cell, below in itertools.product(cells, levels):
            _, share = self.triad(cell, axis, face, (below, *cell[1:]))
            total += self.grid["heights_between"][below, 0, 0] * wet * max(50.0, local * share)
        return total / (4 * self.grid["heights"][level, 0, 0])

    def top(self, cell):
        """Return the diffusivity of the face above ``cell``."""
        level, row, column = cell
        grid, total = self.grid, 0.0
        wet = grid["water"][cell] * grid["water"][level + 1, row, column]
        for axis, up, back in itertools.product((1, 2), (0, 1), (0, 1)):
            own = (level + up, row, column)
            face = (level + up, row - back * (axis == 1), column - back * (axis == 2))
            slope, share = self.triad(own, axis, face, cell)
            if axis == 1:
                length = grid["cosine_between"][0, face[1], 0] * grid["north_between"][0, face[1], 0]
                whole = grid["north"][0, row, 0] * grid["cosine"][0, row, 0]
            else:
                length, whole = grid["east_between"][0, 0, face[2]], grid["east"][0, 0, column]
            total += wet * length * self.diffusivity[cell] * share * slope**2 / (4 * whole)
        return total


def test_each_face_has_the_diffusivity_of_its_four_triads_a_side_and_eight_a_top():
    grid, batch = drawn()
    point, found = Point(grid, batch), specification.reference(SIZE, grid, batch)
    for name, axis, first in (("east", 2, (0, 2, 1)), ("north", 1, (0, 1, 2))):
        expected = [point.side(tuple(np.add(place, first)), axis) for place in np.ndindex(found[name].shape)]
        np.testing.assert_allclose(found[name].ravel(), expected, rtol=1e-9)
    expected = [point.top(tuple(np.add(place, (0, 2, 2)))) for place in np.ndindex(found["top"].shape)]
    np.testing.assert_allclose(found["top"].ravel(), expected, rtol=1e-9)


def test_level_layers_have_no_slope_and_most_of_their_diffusivity():
    grid, batch = tilted(0.0)
    found = specification.reference(SIZE, grid, batch)
    assert not any(found[name].any() for name in ("top", "east_slopes", "north_slopes", "top_slopes"))
    kept = 0.5 * (1 + math.tanh(1.0))
    inner = found["east"][1:-1]
    assert 0.9 * kept * 500 < inner.min() < inner.max() < 1.1 * kept * 1500


@pytest.mark.parametrize("tilt", [1e-4, -1e-3, 3e-3])
def test_the_slope_is_the_tilt_of_the_layers_tapered_where_it_is_steep(tilt):
    grid, batch = tilted(tilt)
    found = specification.reference(SIZE, grid, batch)
    share = 0.5 * (1 + math.tanh((1e-3 - abs(tilt)) / 1e-3))
    np.testing.assert_allclose(found["north_slopes"][:, 1:-1], share * tilt, rtol=1e-6)
    np.testing.assert_allclose(found["top_slopes"][4:, :-1], share * tilt, rtol=1e-6)
    assert not found["east_slopes"].any()


def test_land_has_neither_diffusivity_nor_slope():
    grid, batch = drawn()
    found = specification.reference(SIZE, grid, batch)
    land = 1 - grid["water"][:, 2:-2, 2:-2]
    assert land.any()
    assert not (found["top"] * land[:-1]).any()
    assert not (found["east"][:, :, 1:] * land).any()
    assert not (found["east_slopes"][:, :, :, :-1] * land).any()
    assert not (found["north_slopes"][:, :, 1:] * land).any()


def test_slopes_of_a_batch_are_gentle_steep_and_tapered_to_nothing():
    """Each part of the taper must count in the comparison."""
    size = ocean.SIZES["tiny"]
    grid, batch = drawn(size)
    cells = specification.reference(size, {**grid, "water": np.ones_like(grid["water"])}, batch)
    slopes = np.abs(cells["north_slopes"][:, 1:-1])
    assert all(0.05 < share < 0.9 for share in ((slopes > 3e-4).mean(), (slopes < 1e-5).mean()))
    assert ((cells["north"] > 60).mean()) > 0.5


def test_work_is_less_than_that_of_the_formulas_and_every_face_is_written():
    size = {"levels": 16, "height": 68, "width": 68}
    grid, batch = drawn(size)
    done = operations(lambda grid, batch: specification.reference(size, grid, batch), grid, batch)
    assert 0.75 * done < specification.useful_flops(size) < done
    written = sum(value.size for value in specification.reference(size, grid, batch).values())
    read = 4 * 16 * (66 * 66 - 4)
    assert specification.compulsory_bytes(size, 4) == 4 * (written + read)
