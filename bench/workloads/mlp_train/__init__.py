"""Specifies mlp-train: one SGD step of a multi-layer perceptron with ReLU and softmax cross-entropy."""

from __future__ import annotations

import numpy as np

from .. import layers

ITEM = "row"
SIZES = {
    "check": {"batch": 8, "inputs": 12, "hidden": 16, "layers": 2, "classes": 5},
    "tiny": {"batch": 32, "inputs": 64, "hidden": 128, "layers": 2, "classes": 10},
    "small": {"batch": 128, "inputs": 784, "hidden": 512, "layers": 2, "classes": 10},
    "medium": {"batch": 256, "inputs": 784, "hidden": 2048, "layers": 3, "classes": 10},
    "large": {"batch": 512, "inputs": 784, "hidden": 4096, "layers": 3, "classes": 10},
}
PRECISIONS = ("float32", "mixed-bfloat16")
TRAINING = True
OPTIMIZER = {"name": "sgd", "learning_rate": 0.05}


def widths(size):
    """Return the widths of the activations, from the input to the logits."""
    return [size["inputs"]] + [size["hidden"]] * size["layers"] + [size["classes"]]


def parameters(size, random):
    """Draw He-initialised weights, shape (inputs, outputs), and zero biases, named weight0, bias0, …"""
    drawn = {}
    shape = widths(size)
    for index, (rows, columns) in enumerate(zip(shape, shape[1:])):
        drawn["weight%d" % index] = layers.he(random, (rows, columns), fan_in=rows)
        drawn["bias%d" % index] = np.zeros(columns, np.float32)
    return drawn


def batch(size, random, source=None):
    """Draw inputs (batch, inputs), standard normal, and int32 labels (batch,)."""
    inputs = random.standard_normal((size["batch"], size["inputs"])).astype(np.float32)
    labels = random.randint(0, size["classes"], size["batch"]).astype(np.int32)
    return inputs, labels


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy in the dtype of ``parameters``."""
    activations, labels = batch
    last = len(widths(size)) - 2
    for index in range(last + 1):
        activations = activations @ parameters["weight%d" % index] + parameters["bias%d" % index]
        if index < last:
            activations = layers.relu(activations)
    return layers.cross_entropy(activations, labels), state


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of the matrix products: one forward and two backward, less the unneeded gradient of the input."""
    shape = widths(size)
    products = [2.0 * size["batch"] * rows * columns for rows, columns in zip(shape, shape[1:])]
    return 3 * sum(products) - products[0]


def compulsory_bytes(size, itemsize):
    """Count parameters read and written once, and the inputs read once."""
    shape = widths(size)
    count = sum(rows * columns + columns for rows, columns in zip(shape, shape[1:]))
    return float(itemsize) * (2 * count + size["batch"] * size["inputs"])
