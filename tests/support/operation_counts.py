"""Counts the operations of NumPy on the elements of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Counting(np.ndarray):
    """An array whose operations, and those on what comes of it, are counted: one for each element of a result."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        plain = [np.asarray(one) if isinstance(one, Counting) else one for one in operands]
        result = np.asarray(getattr(ufunc, method)(*plain, **options))
        Counting.count += result.size
        return result.view(Counting)


def operations(compute: Callable, parameters: dict, batch: list) -> int:
    """Return how many operations ``compute(parameters, batch)`` does."""
    Counting.count = 0
    compute({name: value.view(Counting) for name, value in parameters.items()}, [one.view(Counting) for one in batch])
    return Counting.count
