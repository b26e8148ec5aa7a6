"""Tests the kernels of ocean models against their definitions, and their counted work."""

from __future__ import annotations

import numpy as np
import pytest
from agreeing import implemented, relative_error

from bench.registry import BUILT_IN
from bench.workloads import ocean

NAMES = ("equation-of-state",)
EACH = pytest.mark.parametrize("workload", NAMES)


class Counted:
    """A number that counts the operations on it and on what comes of it."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *operands):
        return self._next()

    def _next(self, *_):
        type(self).count += 1
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _next


def drawn(workload, size, dtype=np.float64):
    specification = BUILT_IN.specification(workload)
    random = np.random.RandomState(4)
    parameters = {name: value.astype(dtype) for name, value in specification.parameters(size, random).items()}
    return specification, parameters, [array.astype(dtype) for array in specification.batch(size, random)]


@EACH
def test_numpy_agrees_with_the_reference(workload):
    found, expected = implemented(workload, "check", "float64")
    assert all(relative_error(found[name], expected[name]) < 1e-12 for name in expected)


@EACH
@pytest.mark.parametrize("preset", ["check", "tiny"])
def test_float32_keeps_three_digits(workload, preset):
    """With fewer, an allowed error of 16 times that would hide a mistake."""
    found, expected = implemented(workload, preset, "float32")
    assert {name: error for name in expected if (error := relative_error(found[name], expected[name])) > 1e-3} == {}


@EACH
def test_outputs_have_the_dtype_of_the_inputs(workload):
    for dtype in (np.float32, np.float64):
        size = BUILT_IN.specification(workload).SIZES["check"]
        specification, parameters, batch = drawn(workload, size, dtype)
        assert {array.dtype for array in specification.reference(size, parameters, batch).values()} == {np.dtype(dtype)}


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
    specification, size = BUILT_IN.specification("equation-of-state"), {"levels": 2, "rows": 3, "columns": 5}
    assert specification.items(size) == 30
    assert specification.compulsory_bytes(size, 4) == 4 * (3 * 30 + 2)
    assert specification.useful_flops(size) == 30 * specification.OPERATIONS
