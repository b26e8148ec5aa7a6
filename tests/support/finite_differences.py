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


def disagreement(
    loss: Callable[[dict], Any],
    arrays: Mapping[str, np.ndarray],
    gradients: Mapping[str, np.ndarray],
    seed: int,
    *,
    step: float = STEP,
) -> dict[str, float]:
    """Return how far the slopes of ``loss(arrays)`` are from ``gradients``, along a random direction in each array.

    They are relative to what a slope along such a direction typically is, which no cancellation makes small. The entry
    "all" is for a direction in all arrays at once.
    """
    random = np.random.RandomState(seed)
    directions = {
        name: random.standard_normal(array.shape) * (np.sqrt(np.mean(array**2)) or 0.1)
        for name, array in arrays.items()
    }
    found = {}
    for moved in [{name} for name in arrays] + [set(arrays)]:
        expected = sum(float(np.sum(gradients[name] * directions[name])) for name in moved)
        typical = np.sqrt(sum(float(np.sum((gradients[name] * directions[name]) ** 2)) for name in moved))

        def along(distance: float, moved: set[str] = moved) -> float:
            return float(loss({k: v + distance * directions[k] if k in moved else v for k, v in arrays.items()}))

        # Rounding of a large loss hides a small slope.
        scale = max(typical, 1e-3 * abs(along(0.0)))
        found["all" if len(moved) > 1 else min(moved)] = abs(slope(along, step) - expected) / scale if scale else 0.0
    return found


def specification_disagreement(specification: Any, size: dict, seed: int = 0) -> dict[str, float]:
    """Return the disagreement of a training specification's gradients with the slopes of its loss."""
    parameters, state, batch = drawn(specification, size, seed)
    _, _, gradients = loss_and_gradients(specification.loss, size, parameters, state, batch)
    assert set(gradients) == set(parameters)
    assert all(gradients[name].shape == value.shape for name, value in parameters.items())
    return disagreement(lambda moved: specification.loss(size, moved, state, batch)[0], parameters, gradients, seed)


def drawn(specification: Any, size: dict, seed: int = 0, dtype: Any = np.float64) -> tuple[dict, dict, tuple]:
    """Draw parameters, state and a batch of a training specification, floats in ``dtype``."""
    random = np.random.RandomState(seed)
    parameters = {name: value.astype(dtype) for name, value in specification.parameters(size, random).items()}
    initial = specification.initial_state(size) if hasattr(specification, "initial_state") else {}
    state = {name: value.astype(dtype) for name, value in initial.items()}
    batch = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in specification.batch(size, random))
    return parameters, state, batch
