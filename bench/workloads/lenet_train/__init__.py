"""Specifies lenet-train: one SGD step of LeNet-5 with ReLU and maximum pooling on handwritten digits.

The network follows LeCun et al. 1998 in today's form: 32 by 32 images, 6 and 16 filters of 5 by 5, dense layers of 120,
84 and 10. The images are the 1,797 digits of the UCI repository (DATA-LICENSE.txt), or MNIST where its folder is given.
"""

from __future__ import annotations

import functools
import gzip
import os

import numpy as np

from .. import cnn, idx

ITEM = "image"
SIZES = {
    "check": {"batch": 4},
    "tiny": {"batch": 16},
    "small": {"batch": 128},
    "medium": {"batch": 512},
    # With 2,048 images and the seed of the studies, float32 decides a near-tie otherwise than float64.
    "large": {"batch": 1024},
}
PRECISIONS = ("float32", "mixed-bfloat16")
FLOPS_DIVISOR = cnn.FLOPS_DIVISOR
TRAINING = True
OPTIMIZER = {"name": "sgd", "learning_rate": 0.05}

SIDE = 32
SHAPES = cnn.shapes(SIDE, filters=(6, 16), dense=(120, 84, 10))
#: Values of white and black pixels; an image has a mean near 0 and a variance near 1 (LeCun et al. 1998, III.A).
PAPER, INK = -0.1, 1.175
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits.csv.gz")


@functools.lru_cache(maxsize=None)
def digits():
    """Read the digits in the repository: images (1797, 8, 8) of 0 to 16 and labels (1797,)."""
    with gzip.open(DIGITS, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    table.setflags(write=False)
    return table[:, :64].reshape(-1, 8, 8), table[:, 64]


def source(path=None):
    """Open and describe the images: those in the repository, or the MNIST training set in the folder ``path``.

    Raises ValueError where the folder lacks the MNIST files or they are damaged.
    """
    if path is None:
        return digits(), "UCI digits, 1,797 images"
    images, labels = idx.read_mnist(path)
    return (images, labels), "MNIST from {}, {:,} images".format(path, len(images))


def prepared(images):
    """Convert digits to 32 by 32 pixels between PAPER and INK: (images, 32, 32, 1), float32.

    A UCI pixel counts the ink in 4 by 4 of the 32 by 32 scanned pixels, so it is repeated over those. MNIST gets a
    margin of two pixels, as in LeNet-5.
    """
    if images.shape[1] == 8:
        ink = images.repeat(4, axis=1).repeat(4, axis=2) / 16.0
    else:
        ink = np.pad(images, ((0, 0), (2, 2), (2, 2)), mode="constant") / 255.0
    return (PAPER + (INK - PAPER) * ink).astype(np.float32)[..., np.newaxis]


def parameters(size, random):
    """Draw He-initialised weights and zero biases."""
    return cnn.initial(SHAPES, random)


def batch(size, random, source=None):
    """Draw images (batch, 32, 32, 1) and int32 labels (batch,); images repeat only where the data are too few."""
    source = digits() if source is None else source
    return examples(source, np.resize(random.permutation(len(labels(source))), size["batch"]))


def labels(source):
    """Return the labels of all images."""
    return source[1]


def examples(source, rows):
    """Return the images of these rows and their labels, as ``batch`` does."""
    return prepared(source[0][rows]), labels(source)[rows].astype(np.int32)


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy in the dtype of ``parameters``."""
    return cnn.loss(size, parameters, state, batch)


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of convolutions and dense layers: one forward and two backward, less the images' gradient."""
    return cnn.useful_flops(SHAPES, SIDE, size["batch"])


def compulsory_bytes(size, itemsize):
    """Count parameters read and written once, and the images read once."""
    return float(itemsize) * (2 * cnn.elements(SHAPES) + size["batch"] * SIDE**2)
