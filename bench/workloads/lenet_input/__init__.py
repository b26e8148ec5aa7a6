"""Specifies lenet-input: the step of lenet-train, fed by the framework's own input pipeline.

An example of the data set is a digit of 32 by 32 bytes, compressed by zlib, with its label. A step is given the rows of
its examples, in order, and which of them to mirror. The pipeline fetches these examples, decodes, mirrors and
normalises them, and joins them to a batch, before the step computes or beside it.
"""

from __future__ import annotations

import functools
import zlib

import numpy as np

from .. import cnn
from ..lenet_train import (
    FLOPS_DIVISOR,
    ITEM,
    OPTIMIZER,
    SHAPES,
    SIZES,
    TRAINING,
    digits,
    items,
    parameters,
    useful_flops,
)

__all__ = [
    "FLOPS_DIVISOR",
    "ITEM",
    "OPTIMIZER",
    "PRECISIONS",
    "SIZES",
    "TRAINING",
    "items",
    "parameters",
    "useful_flops",
]

PRECISIONS = ("float32",)
#: Mean and standard deviation of the data set's bytes, divided by 255.
MEAN, DEVIATION = 0.3045, 0.376
#: Batches that a pipeline prepares ahead, where it has a thread or process of its own.
PREFETCHED = 2


@functools.lru_cache(maxsize=None)
def pictures():
    """Return the digits of lenet-train as bytes (1797, 32, 32): each of the 8 by 8 pixels is repeated 4 by 4 times."""
    images = (digits()[0] * (255.0 / 16.0)).astype(np.uint8)
    return images.repeat(4, axis=1).repeat(4, axis=2)


@functools.lru_cache(maxsize=None)
def examples():
    """Return the data set as it is stored: a tuple of compressed images, and int32 labels in the same order."""
    # Level 1 makes them quickly; they are decoded as fast.
    return tuple(zlib.compress(image.tobytes(), 1) for image in pictures()), digits()[1].astype(np.int32)


def batch(size, random, source=None):
    """Draw the order: rows (batch,), a part of a permutation, and where to mirror (batch,), 0 or 1, both int32."""
    rows = np.resize(random.permutation(len(pictures())), size["batch"])
    return rows.astype(np.int32), random.randint(0, 2, size["batch"]).astype(np.int32)


def prepared(rows, mirrored, mean, deviation):
    """Do what the pipeline does, in the dtype of ``mean``: return images (batch, 32, 32, 1) and labels (batch,)."""
    images = pictures()[rows]
    images = np.where(mirrored[:, np.newaxis, np.newaxis], images[:, :, ::-1], images)[..., np.newaxis]
    return (images.astype(mean.dtype) / 255 - mean) / deviation, digits()[1][rows].astype(np.int32)


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy in the dtype of ``parameters``."""
    kind = parameters["conv1_bias"].dtype.type
    return cnn.loss(size, parameters, state, prepared(*batch, kind(MEAN), kind(DEVIATION)))


def stored_bytes(size):
    """Return the least that the compressed examples of a batch can have."""
    return float(size["batch"] * min(len(example) for example in examples()[0]))


def compulsory_bytes(size, itemsize):
    """Count parameters read and written once, and the compressed examples."""
    return float(itemsize) * 2 * cnn.elements(SHAPES) + stored_bytes(size)
