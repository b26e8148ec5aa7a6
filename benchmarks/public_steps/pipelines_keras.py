"""Makes a PyDataset of the stored digits, as Keras' documentation does."""

from __future__ import annotations

import functools

import keras
import numpy as np
from stored import Order


def pydataset(batch, shape):
    """Return a function that makes the data set of as many batches as it is told."""
    return functools.partial(Digits, [np.asarray(array) for array in batch], shape)


class Digits(keras.utils.PyDataset):
    """The batches of an epoch, in its order."""

    def __init__(self, order, shape, count):
        super().__init__()
        self.each, self.count = len(order[0]), count
        self.examples = Order(order, shape, count)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.examples.arrays(slice(index * self.each, (index + 1) * self.each))
