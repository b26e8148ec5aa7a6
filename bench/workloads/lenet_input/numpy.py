"""Implements lenet-input in NumPy: a generator that decodes the examples of a batch and normalises them together."""

from __future__ import annotations

import zlib

import numpy as np

from ...frameworks.fed import fed, feeding
from ...frameworks.numpy.adapter import training
from ..lenet_train import SIDE
from ..lenet_train.numpy import loss_and_gradients
from . import DEVIATION, MEAN, OPTIMIZER, examples

SETTINGS = {"pipeline": "generator", "pipeline workers": 0}


def decoded(rows, mirrored):
    """Return the images and labels of a batch."""
    records, labels = examples()
    images = np.frombuffer(b"".join([zlib.decompress(records[row]) for row in rows]), np.uint8)
    images = images.reshape(-1, SIDE, SIDE, 1)
    images = np.where(mirrored[:, np.newaxis, np.newaxis, np.newaxis], images[:, :, ::-1], images).astype(np.float32)
    images /= 255
    images -= MEAN
    images /= DEVIATION
    return images, labels[rows]


def feed(batches):
    return (decoded(*batch) for batch in batches)


def build(size, parameters, batch, transform):
    return fed(training(loss_and_gradients, parameters, feeding(transform, SETTINGS), OPTIMIZER), feed)
