"""Specifies equation-of-state: the derivative of the dynamic enthalpy of seawater by its temperature, point by point.

Density is the quotient of two polynomials with 48 coefficients (IOC et al. 2010, McDougall et al. 2011). The enthalpy
is the integral of its inverse over the pressure, in closed form; the derivative follows from the rules.
"""

from __future__ import annotations

from ..ocean import NUMPY, PRECISIONS, SIZES, items, points, uniform

__all__ = ["PRECISIONS", "SIZES", "items"]

ITEM = "point"
TRAINING = False
#: Joules per decibar and cubic metre.
SCALE = 1e4
#: Additions, products, quotients, roots, logarithms and a change of sign of ``enthalpy_slope`` for a point.
OPERATIONS = 261


def parameters(size, random):
    """Draw nothing: the coefficients are constants."""
    return {}


def batch(size, random, source=None):
    """Draw salinity in g/kg and temperature in °C, both (levels, rows, columns), and the pressure of levels in dbar."""
    shape = (size["levels"], size["height"], size["width"])
    pressure = uniform(random, (size["levels"], 1, 1), 10.0, 5000.0)
    return uniform(random, shape, 30.0, 40.0), uniform(random, shape, -2.0, 30.0), pressure


def polynomial(variable, *coefficients):
    """Return a polynomial of ``variable`` and its slope, by Horner's rule; the constant coefficient comes first."""
    # Dynamo of PyTorch 2.9 makes a tuple of ``*rest``.
    rest, last = list(coefficients[:-1]), coefficients[-1]
    value, slope = last * variable + rest.pop(), last
    while rest:
        slope = slope * variable + value
        value = value * variable + rest.pop()
    return value, slope


def plus(left, right):
    return left[0] + right[0], left[1] + right[1]


def shifted(pair, constant):
    """Add what does not depend on the temperature."""
    return pair[0] + constant, pair[1]


def minus(left, right):
    return left[0] - right[0], left[1] - right[1]


def scaled(factor, pair):
    return factor * pair[0], factor * pair[1]


def times(left, right):
    return left[0] * right[0], slope_of_product(left, right)


def slope_of_product(left, right):
    return left[1] * right[0] + left[0] * right[1]


def over(left, right):
    # Divisions are few: with two of them instead, XLA took 1.4 times as long for the whole formula.
    inverse = 1 / right[0]
    quotient = left[0] * inverse
    return quotient, difference(left[1], quotient * right[1]) * inverse


def difference(left, right):
    # TorchScript's fuser in PyTorch 1.13 takes no number less an array: the formula became two kernels and 1.2 times as
    # slow.
    return -right + left if isinstance(left, float) else left - right


def volume(salinity, temperature, sqrt):
    """Return the coefficients by pressure of numerator and denominator of the volume, pairs of value and slope.

    Coefficients v01 to v48 of McDougall et al. 2011.
    """
    s, t, root = salinity, temperature, sqrt(salinity)
    denominator = (
        plus(
            polynomial(t, 9.998420897506056e2, 2.839940833161907, -3.147759265588511e-2, 1.181805545074306e-3),
            scaled(s, plus(
                polynomial(t, -6.698001071123802, -2.986498947203215e-2, 2.327859407479162e-4),
                scaled(root, polynomial(
                    t, -3.988822378968490e-2, 5.095422573880500e-4, -1.426984671633621e-5, 1.645039373682922e-7
                )),
            )),
        ),
        plus(
            polynomial(t, -2.233269627352527e-2, -3.436090079851880e-4, 3.726050720345733e-6),
            scaled(s, polynomial(t, -1.806789763745328e-4, 6.876837219536232e-7)),
        ),
        shifted(
            polynomial(t, -3.087032500374211e-7, -1.988366587925593e-8, -1.061519070296458e-11),
            1.550932729220080e-10 * s,
        ),
    )  # fmt: skip
    by_salinity = plus(
        polynomial(
            t, -7.521448093615448e-3, -2.764306979894411e-5, 1.262937315098546e-7, 9.527875081696435e-10,
            -1.811147201949891e-11,
        ),
        scaled(root, polynomial(
            t, -3.303308871386421e-5, 3.801564588876298e-7, -7.672876869259043e-9, -4.634182341116144e-11,
            2.681097235569143e-12,
        )),
    )  # fmt: skip
    numerator = (
        plus(
            polynomial(
                t, 1.0, 2.775927747785646e-3, -2.349607444135925e-5, 1.119513357486743e-6, 6.743689325042773e-10
            ),
            scaled(s, shifted(by_salinity, 5.419326551148740e-6 * s)),
        ),
        plus(
            polynomial(t, -2.742185394906099e-5, -3.212746477974189e-7, 3.191413910561627e-9, -1.931012931541776e-12),
            scaled(s, polynomial(t, -1.105097577149576e-7, 6.211426728363857e-10)),
        ),
        plus(
            polynomial(t, -1.119011592875110e-10, -1.941660213148725e-11, -1.864826425365600e-14),
            scaled(s, (1.119522344879478e-14 * t, 1.119522344879478e-14)),
        ),
        polynomial(t, -1.200507748551599e-15, 6.057902487546866e-17),
    )
    return numerator, denominator


def enthalpy_slope(operations, salinity, temperature, pressure):
    """Return the derivative by the temperature of the integral of numerator / denominator from 0 to ``pressure``.

    The quotient of the polynomials of the pressure p is ``linear · p + constant`` and the remainder
    ``(slope · p + rest)`` over the denominator ``d0 + d1 · p + d2 · p²``, whose integral is a sum of two logarithms.
    """
    (n0, n1, n2, n3), (d0, d1, d2) = volume(salinity, temperature, operations.sqrt)
    linear = over(n3, d2)
    constant = over(minus(n2, times(linear, d1)), d2)
    slope = minus(minus(n1, times(linear, d0)), times(constant, d1))
    rest = minus(n0, times(constant, d0))
    half = scaled(0.5, d1)
    squared = minus(times(half, half), times(d0, d2))
    root = operations.sqrt(squared[0])
    width = (root, 0.5 * squared[1] / root)
    first = over(scaled(0.5, slope), d2)

    def logarithm(ratio):
        return operations.log1p(ratio[0]), ratio[1] / (1 + ratio[0])

    grown = scaled(pressure, plus(d1, scaled(pressure, d2)))
    shown = times(minus(half, width), plus(plus(half, width), scaled(pressure, d2)))
    inner = over(scaled(pressure, times(width, d2)), shown)
    second = over(minus(rest, times(first, d1)), scaled(2.0, width))
    logarithms = slope_of_product(first, logarithm(over(grown, d0)))
    logarithms = logarithms + slope_of_product(second, logarithm(scaled(2.0, inner)))
    return {"slope": SCALE * (pressure * (constant[1] + 0.5 * pressure * linear[1]) + logarithms)}


def reference(size, parameters, batch):
    """Compute the slope (levels, rows, columns) in the dtype of ``batch``."""
    return enthalpy_slope(NUMPY, *batch)


def useful_flops(size):
    """Count one for each operation of the formula, roots and logarithms included."""
    return float(OPERATIONS * points(size))


def compulsory_bytes(size, itemsize):
    """Count salinity and temperature read, the slope written, and a pressure of each level."""
    return float(itemsize) * (3 * points(size) + size["levels"])
