"""Makes data sets of batches that lie on the device, for loops that take a tf.data pipeline."""

from __future__ import annotations

import tensorflow as tf

from ..rotation import Rotation


class Repetition:
    """Data sets of batches that repeat in one order, each made once. A generator would go through Python."""

    def __init__(self, mode, other):
        """Serve ``mode``; refusals name ``other``, which takes batches in any order."""
        self._rotation = Rotation(mode, other, tf.stack)
        self._options = tf.data.Options()
        # All batches are in memory: there is nothing to tune, and threads that tune took half of a small step's time.
        self._options.autotune.enabled = False
        self._options.threading.private_threadpool_size = 1
        self._made = {}

    def __call__(self, batches):
        first, period = self._rotation.first_of(batches), self._rotation.period
        key = (first, len(batches), period)
        if key not in self._made:
            slices = tf.data.Dataset.from_tensor_slices(tuple(array[:period] for array in self._rotation.stacked))
            self._made[key] = slices.repeat().skip(first).take(len(batches)).with_options(self._options)
        return self._made[key]
