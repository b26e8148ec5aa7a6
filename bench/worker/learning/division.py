"""Divides the examples of a workload into those for training and for validation, and puts them in order.

RandomState gives the same numbers in every NumPy version (NEP 19), so all environments draw the same.
"""

from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple, Tuple

import numpy as np

from ...program import Unsupported


class Examples(NamedTuple):
    """The examples of a workload, divided: ``training`` and ``validation`` are rows of ``source``."""

    source: Any
    description: str
    training: Any
    validation: Any


def divide(count: int, share: float, seed: int) -> Tuple[Any, Any]:
    """Return the rows for training and the rows for validation, which are ``share`` of all, rounded."""
    rows = np.random.RandomState(seed).permutation(count)
    held = round(count * share)
    return rows[held:], rows[:held]


def load(specification: Any, batch: int, share: float, seed: int, data: Any = None) -> Examples:
    """Open the examples of a workload and divide them; ``batch`` is the number of examples in a batch.

    ``seed`` decides which examples are held out. Raises Unsupported for a workload without examples, and ValueError
    for too few of them or data that cannot be read.
    """
    if not hasattr(specification, "examples"):
        raise Unsupported("its specification has no examples: only a workload that has them can be trained to a result")
    source, description = specification.source(data)
    if source is None:
        raise Unsupported("it brings no examples of its own: give a folder with --data, or as data in the study file")
    count = len(specification.labels(source))
    training, validation = divide(count, share, seed)
    if len(training) < batch or not len(validation):
        raise ValueError(
            "{}: {} are for training and {} for validation, but a batch has {}. Give more images, or choose a smaller "
            "size with --size.".format(description, len(training), len(validation), batch)
        )
    return Examples(source, description, training, validation)


def order(rows: Any, seed: int, epoch: int) -> Any:
    """Return the rows in the order of an epoch, which is another one in every epoch and with every seed."""
    return np.random.RandomState([seed, epoch]).permutation(rows)


def whole_batches(rows: Any, size: int) -> List[Any]:
    """Return the rows of each whole batch.

    A program is built for one number of examples, so what does not fill a batch is left out, in each epoch others.
    """
    return [rows[first : first + size] for first in range(0, len(rows) - size + 1, size)]


def padded_batches(rows: Any, size: int) -> Iterator[Tuple[Any, int]]:
    """Yield the rows of each batch, and how many of them count: the last batch is filled up with the first rows."""
    for first in range(0, len(rows), size):
        found = rows[first : first + size]
        yield np.concatenate([found, np.resize(rows, size - len(found))]), len(found)
