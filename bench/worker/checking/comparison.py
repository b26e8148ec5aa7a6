"""Compares one output with its reference and puts a difference into words."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from . import draws


def relative_error(value: Any, expected: Any) -> float:
    """Return ‖value - expected‖ / ‖expected‖ in the 2-norm.

    It is infinite for a wrong shape, for values that are not finite, and for complex values where real ones are right.
    """
    value = np.asarray(value)
    if is_complex(value) and not is_complex(expected):
        return float("inf")
    value = np.asarray(value, np.complex128 if is_complex(value) else np.float64)
    if value.shape != expected.shape or not np.all(np.isfinite(value)):
        return float("inf")
    scale = float(np.linalg.norm(expected.ravel()))
    error = float(np.linalg.norm((value - expected).ravel()))
    if scale == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return error / scale


def is_complex(array: Any) -> bool:
    return bool(array.dtype.kind == "c")


def shape_difference(name: str, value: Any, expected: Any) -> str:
    """Say how the shapes differ; empty where they are equal."""
    found, right = np.shape(value), np.shape(expected)
    return "" if found == right else "{}: shape {}, expected {}".format(name, found, right)


def describe(name: str, found: Dict[str, float], value: Any, expected: Any, sums: bool) -> str:
    """Say how an output differs from what is expected: in its shape, its type, its finiteness, or its values.

    ``sums`` says that the values are projections, of which none belongs to an element.
    """
    value, expected = np.asarray(value), np.asarray(expected)
    if draws.are_expected(expected):
        return draws.describe(name, found, expected, value)
    if value.shape != expected.shape:
        return shape_difference(name, value, expected)
    if is_complex(value) and not is_complex(expected):
        return "{} is complex, expected real numbers".format(name)
    if not np.all(np.isfinite(value)):
        return "{} is not finite".format(name)
    said = "{} has a relative error of {:.2g} against float64; {:.2g} is allowed".format(
        name, found["error"], found["allowed"]
    )
    return said if sums or not value.size else said + "; " + worst_element(value, expected)


def worst_element(value: Any, expected: Any) -> str:
    """Name the element that differs most: ``worst at [1, 2]: 0.25, expected 0.5``."""
    value, expected = np.asarray(value, np.float64), np.asarray(expected, np.float64)
    index = np.unravel_index(int(np.argmax(np.abs(value - expected))), value.shape)
    place = " at [{}]".format(", ".join(map(str, index))) if index else ""
    return "worst{}: {:.7g}, expected {:.7g}".format(place, float(value[index]), float(expected[index]))
