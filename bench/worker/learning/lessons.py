"""Holds what a program is trained on: initial weights and the batches of each epoch, both from one seed.

The host makes the same, to compare the hash with that of each environment.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from ..checking.arrays import digest, nudged
from . import division


class Lessons:
    """What one seed gives."""

    def __init__(self, specification: Any, size: Dict[str, int], seed: int, changed: int, examples: Any) -> None:
        """Draw the initial weights; ``changed`` above 0 changes them in the last bit, in a way that it seeds."""
        self._specification = specification
        self._seed = seed
        self.batch = int(specification.items(size))
        self.examples = examples
        self.initial = nudged(specification.parameters(size, np.random.RandomState(seed)), changed)

    @property
    def steps(self) -> int:
        """The number of batches in an epoch."""
        return len(self.examples.training) // self.batch

    def batches(self, epoch: int) -> List[Tuple[Any, ...]]:
        """Return the batches of an epoch, counted from 0, in their order."""
        return [self.of_rows(rows) for rows in self._rows(epoch)]

    def first_batch(self) -> Tuple[Any, ...]:
        """Return the first batch of the first epoch."""
        return self.of_rows(self._rows(0)[0])

    def of_rows(self, rows: Any) -> Tuple[Any, ...]:
        """Return the batch of these rows of the examples."""
        batch: Tuple[Any, ...] = self._specification.examples(self.examples.source, rows)
        return batch

    def digest(self) -> str:
        """Return a hash of the initial weights and of all batches of the first epoch, in their order."""
        return digest(self.initial, self.batches(0))

    def _rows(self, epoch: int) -> List[Any]:
        return division.whole_batches(division.order(self.examples.training, self._seed, epoch), self.batch)
