"""Decodes the stored digits with NumPy, in the order that a batch of lenet-input has, an example or a batch at once."""

from __future__ import annotations

import zlib

import numpy as np

from bench.workloads.lenet_input import DEVIATION, MEAN, examples
from bench.workloads.lenet_train import SIDE

#: Shapes of an image.
CHANNELS_LAST, CHANNELS_FIRST = (SIDE, SIDE, 1), (1, SIDE, SIDE)


class Order:
    """What is read in a run of a number of batches; images get ``shape``."""

    def __init__(self, order, shape, count):
        self.rows, self.mirrored = (np.tile(array, count) for array in order)
        self.shape, (self.records, self.labels) = shape, examples()

    def __len__(self):
        return len(self.rows)

    def example(self, index):
        row = self.rows[index]
        image = np.frombuffer(zlib.decompress(self.records[row]), np.uint8).reshape(SIDE, SIDE)
        image = image[:, ::-1] if self.mirrored[index] else image
        return normal(image).reshape(self.shape), self.labels[row]

    def arrays(self, indices):
        """Return the images and labels of a batch."""
        rows, mirrored = self.rows[indices], self.mirrored[indices].astype(bool)
        images = np.stack([np.frombuffer(zlib.decompress(self.records[row]), np.uint8) for row in rows])
        images = images.reshape(-1, SIDE, SIDE)
        images[mirrored] = images[mirrored, :, ::-1]
        return normal(images).reshape(-1, *self.shape), self.labels[rows].astype(np.int64)


def normal(images):
    return (images / np.float32(255) - np.float32(MEAN)) / np.float32(DEVIATION)
