"""Computes derivatives by finite differences in float64, to test the gradients of the references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bench.differentiation import loss_and_gradients

#: So small that the kinks of ReLU and of maxima are hardly ever met, so large that rounding is below 1e-8.
STEP = 1e-6


def central_slopes(function: Callable[[], float], array: np.ndarray, step: float) -> np.ndarray:
    """Differentiate ``function`` by central differences in every element of ``array``, which it reads."""
    found = np.empty_like(array)
    for index in np.ndindex(*array.shape):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        below = function()
        array[index] = kept
        found[index] = (above - below) / (2 * step)
    return found


def gradients_of_form(function: Callable, form: np.ndarray, arrays: list) -> list[np.ndarray]:
    """Return the gradients of ``(function(*arrays) * form).sum()`` with respect to each array."""
    _, _, gradients = loss_and_gradients(
        lambda size, parameters, state, batch: ((function(*parameters.values()) * form).sum(), state),
        {},
        {str(index): array for index, array in enumerate(arrays)},
        {},
        (),
    )
    return list(gradients.values())


def slope(function: Callable[[float], float], step: float = STEP) -> float:
    """Differentiate ``function`` at 0 by central differences of fourth order."""
    near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
    return float((8 * near - far) / (12 * step))


class Slopes:
    """The slopes of ``loss(arrays)`` along a random direction in each array, and along one in all arrays at once.

    They are found once, for any number of gradients.
    """

    def __init__(
        self, loss: Callable[[dict], Any], arrays: Mapping[str, np.ndarray], seed: int, *, step: float = STEP
    ) -> None:
        random = np.random.RandomState(seed)
        self._directions = {
            name: random.standard_normal(array.shape) * (np.sqrt(np.mean(array**2)) or 0.1)
            for name, array in arrays.items()
        }
        self._level = abs(float(loss(dict(arrays))))
        self._found = []
        for moved in [{name} for name in arrays] + [set(arrays)]:

            def along(distance: float, moved: set[str] = moved) -> float:
                shifted = {k: v + distance * self._directions[k] if k in moved else v for k, v in arrays.items()}
                return float(loss(shifted))

            self._found.append((moved, slope(along, step)))

    def disagreement(self, gradients: Mapping[str, np.ndarray]) -> dict[str, float]:
        """Return how far they are from ``gradients``; the entry "all" is for all arrays at once.

        It is relative to what a slope along such a direction typically is, which no cancellation makes small.
        """
        found = {}
        for moved, measured in self._found:
            products = {name: gradients[name] * self._directions[name] for name in moved}
            expected = sum(float(np.sum(product)) for product in products.values())
            typical = np.sqrt(sum(float(np.sum(product**2)) for product in products.values()))
            # Rounding of a large loss hides a small slope.
            scale = max(typical, 1e-3 * self._level)
            found["all" if len(moved) > 1 else min(moved)] = abs(measured - expected) / scale if scale else 0.0
        return found


def specification_slopes(specification: Any, size: dict, seed: int = 0) -> Slopes:
    """Return the slopes of a training specification's loss in its parameters."""
    parameters, state, batch = drawn(specification, size, seed)
    return Slopes(lambda moved: specification.loss(size, moved, state, batch)[0], parameters, seed)


def specification_gradients(specification: Any, size: dict, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the gradients of a training specification where its slopes are taken."""
    parameters, state, batch = drawn(specification, size, seed)
    _, _, gradients = loss_and_gradients(specification.loss, size, parameters, state, batch)
    assert {name: value.shape for name, value in gradients.items()} == {k: v.shape for k, v in parameters.items()}
    return gradients


def specification_disagreement(specification: Any, size: dict, seed: int = 0) -> dict[str, float]:
    """Return the disagreement of a training specification's gradients with the slopes of its loss."""
    slopes = specification_slopes(specification, size, seed)
    return slopes.disagreement(specification_gradients(specification, size, seed))


def drawn(specification: Any, size: dict, seed: int = 0, dtype: Any = np.float64) -> tuple[dict, dict, tuple]:
    """Draw parameters, state and a batch of a training specification, floats in ``dtype``."""
    random = np.random.RandomState(seed)
    parameters = {name: value.astype(dtype) for name, value in specification.parameters(size, random).items()}
    initial = specification.initial_state(size) if hasattr(specification, "initial_state") else {}
    state = {name: value.astype(dtype) for name, value in initial.items()}
    batch = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in specification.batch(size, random))
    return parameters, state, batch
