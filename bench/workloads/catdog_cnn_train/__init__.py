"""Specifies catdog-cnn-train: one Adam step of a network that classifies grey 50 by 50 images as cat or dog.

The study by Welter et al. (SETREM) resized Microsoft's 25,000 cats and dogs to 50 by 50 and compared TensorFlow, Keras
and PyTorch, but does not state layers, loss, optimizer or batch. This workload takes them from a tutorial on the same
images at the same size (https://pythonprogramming.net/convnet-model-deep-learning-neural-network-pytorch/ and the part
that follows it): convolutions of 32, 64 and 128 filters of 5 by 5, each with ReLU and 2 by 2 maximum pooling, dense
layers of 512 and 2, Adam at 0.001, 100 images a batch. The tutorial's 24,946 readable images equal the study's 17,462 +
7,484. The loss is the cross-entropy; the tutorial has a squared error. ``medium`` is that step; ``large`` has
more images, the other sizes fewer images or filters.
"""

from __future__ import annotations

import os

import numpy as np

from .. import cnn, images

ITEM = "image"
SIZES = {
    "check": {"batch": 4, "filters": 4, "dense": 16},
    "tiny": {"batch": 10, "filters": 8, "dense": 64},
    "small": {"batch": 32, "filters": 32, "dense": 512},
    "medium": {"batch": 100, "filters": 32, "dense": 512},
    "large": {"batch": 500, "filters": 32, "dense": 512},
}
PRECISIONS = ("float32", "mixed-bfloat16")
FLOPS_DIVISOR = cnn.FLOPS_DIVISOR
TRAINING = True
OPTIMIZER = {"name": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

SIDE = 50
CLASSES = 2


def shapes(size):
    """Return ``{name: shape}`` of the parameters; the number of filters doubles with every block."""
    return cnn.shapes(SIDE, [size["filters"] * factor for factor in (1, 2, 4)], (size["dense"], CLASSES))


def source(path=None):
    """Open an archive of ``write_archive`` and describe it; without a path, batches are synthetic.

    Raises ValueError for any other file.
    """
    if path is None:
        return None, "synthetic images of 50 x 50 pixels: seeded noise with random labels"
    archive = images.read_archive(path, SIDE)
    return archive, "cats and dogs from {}: {:,} images, {:,} left out as unreadable".format(
        os.path.basename(path), len(archive.images), len(archive.unreadable)
    )


def write_archive(folder, path, progress=None):
    """Convert a folder of photographs to the file that ``source`` reads. It needs Pillow.

    Return "name: reason" of each file left out. Raises ValueError where no cat or no dog is readable.
    """
    return images.write_archive(folder, path, SIDE, progress).unreadable


def parameters(size, random):
    """Draw He-initialised weights and zero biases."""
    return cnn.initial(shapes(size), random)


def batch(size, random, source=None):
    """Draw images (batch, 50, 50, 1) from 0 to 1 and int32 labels (batch,), 0 for a cat and 1 for a dog."""
    if source is None:
        drawn = random.randint(0, 256, (size["batch"], SIDE, SIDE))
        return prepared(drawn), random.randint(0, CLASSES, size["batch"]).astype(np.int32)
    return examples(source, np.resize(random.permutation(len(source.images)), size["batch"]))


def prepared(drawn):
    """Convert grey bytes to (images, 50, 50, 1) from 0 to 1, float32."""
    return (drawn / 255.0).astype(np.float32)[..., np.newaxis]


def labels(source):
    """Return the labels of all images."""
    return source.labels


def examples(source, rows):
    """Return the images of these rows and their labels, as ``batch`` does."""
    return prepared(source.images[rows]), labels(source)[rows].astype(np.int32)


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy in the dtype of ``parameters``."""
    return cnn.loss(size, parameters, state, batch)


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of convolutions and dense layers: one forward and two backward, less the images' gradient."""
    return cnn.useful_flops(shapes(size), SIDE, size["batch"])


def compulsory_bytes(size, itemsize):
    """Count parameters and Adam's two moments read and written once, and the images read once."""
    return float(itemsize) * (6 * cnn.elements(shapes(size)) + size["batch"] * SIDE**2)
