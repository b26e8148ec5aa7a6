"""Tests the kernels of ocean models against their definitions, and their counted work."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_outputs import implemented, relative_error
from operation_counts import operations

from bench.registry import BUILT_IN
from bench.workloads import ocean

NAMES = ("equation-of-state", "isoneutral-mixing", "turbulent-kinetic-energy")


class Counted:
    """A number that counts the operations on it and on what comes of it."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *operands):
        return self._next()

    def _next(self, *_):
        type(self).count += 1
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _next


def drawn(workload, size):
    specification = BUILT_IN.specification(workload)
    random = np.random.RandomState(4)
    parameters = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    return specification, parameters, [array.astype(np.float64) for array in specification.batch(size, random)]


@pytest.mark.parametrize("workload", NAMES)
@pytest.mark.parametrize("preset", ["check", "tiny"])
def test_float32_keeps_three_digits(workload, preset):
    """With fewer, an allowed error of 16 times that would hide a mistake."""
    found, expected = implemented(workload, preset, "float32")
    assert {name: error for name in expected if (error := relative_error(found[name], expected[name])) > 1e-3} == {}


def test_the_slope_of_enthalpy_is_that_of_the_integral_of_the_volume():
    """Integrated by Gauss and Legendre's rule and differentiated by central differences."""
    specification, _, (salinity, temperature, pressure) = drawn("equation-of-state", ocean.SIZES["check"])
    places, weights = np.polynomial.legendre.leggauss(20)

    def enthalpy(temperature):
        total = 0.0
        for place, weight in zip((places + 1) / 2, weights / 2, strict=True):
            numerator, denominator = specification.volume(salinity, temperature, np.sqrt)
            at = place * pressure
            above, below = (
                sum(pair[0] * at**power for power, pair in enumerate(part)) for part in (numerator, denominator)
            )
            total = total + weight * pressure * above / below
        return 1e4 * total

    step = 1e-3
    expected = (enthalpy(temperature + step) - enthalpy(temperature - step)) / (2 * step)
    found = specification.reference({}, {}, (salinity, temperature, pressure))["slope"]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_water_of_standard_salinity_at_zero_degrees_has_its_known_density():
    """EOS-80 and TEOS-10 both have 1028.106 kg/m³ at the surface."""
    numerator, denominator = BUILT_IN.specification("equation-of-state").volume(35.16504, 0.0, np.sqrt)
    assert denominator[0][0] / numerator[0][0] == pytest.approx(1028.106, abs=0.01)


def test_the_operations_of_the_equation_of_state_are_those_of_its_formula():
    specification = BUILT_IN.specification("equation-of-state")
    Counted.count = 0
    specification.reference({}, {}, (Counted(), Counted(), Counted()))
    assert Counted.count == specification.OPERATIONS


def test_the_equation_of_state_moves_three_arrays_and_a_pressure_for_each_level():
    specification, size = BUILT_IN.specification("equation-of-state"), {"levels": 2, "height": 3, "width": 5}
    assert specification.items(size) == 30
    assert specification.compulsory_bytes(size, 4) == 4 * (3 * 30 + 2)
    assert specification.useful_flops(size) == 30 * specification.OPERATIONS


def levels_of_tke(size, seed=7):
    random = np.random.RandomState(seed)
    specification = BUILT_IN.specification("turbulent-kinetic-energy")
    grid = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    return specification, grid, [array.astype(np.float64) for array in specification.batch(size, random)]


def test_a_tridiagonal_system_is_solved():
    specification = BUILT_IN.specification("turbulent-kinetic-energy")
    random = np.random.RandomState(0)
    lower, upper, right = (random.uniform(-1, 1, (5, 2, 3)) for _ in range(3))
    diagonal = random.uniform(3, 4, (5, 2, 3))
    found = specification.solve(ocean.NUMPY, lower, diagonal, upper, right)
    for place in np.ndindex(2, 3):
        at = (slice(None), *place)
        matrix = np.diag(diagonal[at]) + np.diag(lower[at][1:], -1) + np.diag(upper[at][:-1], 1)
        np.testing.assert_allclose(found[at], np.linalg.solve(matrix, right[at]), rtol=1e-10)


def test_mixing_alone_keeps_the_energy_of_a_column(monkeypatch):
    size = {"levels": 6, "height": 7, "width": 8}
    specification, grid, (energy, _, _, _, viscosity, length, forcing, surface, _) = levels_of_tke(size)
    monkeypatch.setattr(specification, "DISSIPATION", 0.0)
    found, lacked = specification.mixed(ocean.NUMPY, grid, energy, viscosity, length, 0 * forcing, 0 * surface)
    heights = grid["faces"].copy()
    heights[-1] /= 2
    before = energy[:, 2:-2, 2:-2]
    np.testing.assert_allclose((found * heights).sum(axis=0), (before * heights).sum(axis=0), rtol=1e-12)
    assert np.abs(found - before).max() > 0.01
    assert not lacked.any()


def test_a_surface_that_takes_more_than_there_is_leaves_nothing_and_says_what_it_lacked():
    size = {"levels": 6, "height": 7, "width": 8}
    specification, grid, batch = levels_of_tke(size)
    found, lacked = specification.mixed(ocean.NUMPY, grid, batch[0], *batch[4:7], batch[7] - 50)
    assert (lacked > 0).all()
    assert not found[-1].any()


def test_the_limiter_is_upwind_at_an_extremum_and_of_second_order_on_a_slope():
    specification = BUILT_IN.specification("turbulent-kinetic-energy")
    flow, courant = np.array([0.3]), np.array([0.5])
    for energy, share in (([1.0, 2.0, 4.0, 7.0], None), ([2.0, 1.0, 4.0, 7.0], 0.0), ([0.0, 2.0, 4.0, 6.0], 1.0)):
        values = np.array(energy)
        found = specification.flux(ocean.NUMPY, 0, flow, values, np.ones(4), courant)
        # Of the difference before and the one here, by Roe's formula.
        ratio = (values[1] - values[0]) / (values[2] - values[1])
        limit = max(0.0, min(1.0, 2 * ratio), min(2.0, ratio))
        assert share is None or limit == share
        upwind, centred = 0.3 * values[1], 0.3 * (values[1] + values[2]) / 2
        second = centred - 0.5 * 0.5 * 0.3**2 * (values[2] - values[1])
        assert found[0] == pytest.approx((1 - limit) * upwind + limit * second, rel=1e-12)


def test_flow_and_diffusion_move_energy_between_wet_points_alone():
    size = {"levels": 6, "height": 12, "width": 12}
    specification, grid, batch = levels_of_tke(size)
    energy, *flows = batch[:4]
    # Nothing moves near the edges, so that nothing leaves.
    shown = np.zeros_like(energy)
    shown[:, 4:-4, 4:-4] = 1
    level = np.where(shown == 1, energy, 0.5)
    sizes = (grid["cosine"] * grid["north"] * grid["east"])[:, 2:-2, 2:-2]
    assert abs((specification.diffused(grid, level) * sizes).sum(axis=(1, 2))).max() < 1e-12
    heights = grid["faces"].copy()
    heights[-1] /= 2
    carried = specification.carried(ocean.NUMPY, grid, level, [flow * shown for flow in flows])
    dry = 1 - grid["water"][:, 2:-2, 2:-2]
    assert not (carried * dry).any()
    everywhere = {**grid, "water": np.ones_like(energy)}
    carried = specification.carried(ocean.NUMPY, everywhere, level, [flow * shown for flow in flows])
    assert abs((carried * sizes * heights).sum()) < 1e-12
    assert np.abs(carried).max() > 0.01


def test_the_operations_of_the_energy_are_fewer_than_those_of_its_formulas():
    specification, grid, batch = levels_of_tke({"levels": 16, "height": 36, "width": 36})

    size = {"levels": 16, "height": 36, "width": 36}
    done = operations(lambda grid, batch: specification.reference(size, grid, batch), grid, batch)
    assert 0.75 * done < specification.useful_flops(size) < done
    assert specification.compulsory_bytes(size, 4) == 4 * (5 * 16 * 36 * 36 + 6 * 16 * 32 * 32)
