"""Feeds Keras' loops with batches that lie on the device, in the form that each backend takes without a copy."""

from __future__ import annotations

from ..rotation import Rotation
from .versions import config


class Feed:
    """Gives the arguments with which ``fit`` and ``predict`` take a list of batches."""

    def __init__(self, mode, other):
        """Feed the loop of ``mode``; refusals name ``other``, which takes batches in any order."""
        backend = config.backend()
        if backend == "tensorflow":
            self._make = InDataset(mode, other)
        else:
            self._make = loaded if backend == "torch" else Generated(mode)

    def __call__(self, batches):
        return self._make(batches)


class Generated:
    """Gives JAX a generator, whose arrays Keras passes on as they are."""

    def __init__(self, mode):
        self._steps = "steps" if mode.startswith("predict") else "steps_per_epoch"

    def __call__(self, batches):
        return {"x": (tuple(batch) for batch in batches), self._steps: len(batches)}


def loaded(batches):
    """Give PyTorch a loader without workers that takes each batch as it is."""
    from torch.utils.data import DataLoader

    return {"x": DataLoader([tuple(batch) for batch in batches], batch_size=None)}


class InDataset:
    """Gives TensorFlow a tf.data pipeline of the batches that repeat; a generator would go through Python."""

    def __init__(self, mode, other):
        import tensorflow as tf

        self._rotation = Rotation(mode, other, tf.stack)
        self._options = tf.data.Options()
        # All batches are in memory: there is nothing to tune, and threads that tune took half of a small step's time.
        self._options.autotune.enabled = False
        self._options.threading.private_threadpool_size = 1
        self._made = {}

    def __call__(self, batches):
        first = self._rotation.first_of(batches)
        key = (first, len(batches), self._rotation.period)
        if key not in self._made:
            self._made[key] = self._dataset(first, len(batches))
        return {"x": self._made[key]}

    def _dataset(self, first, count):
        import tensorflow as tf

        period = self._rotation.period
        slices = tf.data.Dataset.from_tensor_slices(tuple(array[:period] for array in self._rotation.stacked))
        return slices.repeat().skip(first).take(count).with_options(self._options)
