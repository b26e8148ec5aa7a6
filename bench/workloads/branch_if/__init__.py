"""Specifies branch-if: a perceptron of 20 layers, in each of which the data decide which of two layers is computed.

Where the first row times the probe of a layer is above zero, the layer is ``relu(hidden @ upper)``, otherwise it is
``tanh(hidden @ lower)``.
"""

from __future__ import annotations

import numpy as np

from .. import layers
from ..transformer import draw

ITEM = "row"
SIZES = {
    "check": {"batch": 4, "width": 16, "layers": 6},
    "tiny": {"batch": 8, "width": 64, "layers": 20},
    "small": {"batch": 64, "width": 256, "layers": 20},
    "medium": {"batch": 256, "width": 1024, "layers": 20},
    "large": {"batch": 1024, "width": 2048, "layers": 20},
}
PRECISIONS = ("float32",)
TRAINING = False
#: Of the weights below tanh, whose outputs are smaller than its inputs.
LOWER_SCALE = 1.6


def parameters(size, random):
    """Draw for each layer a probe (width,) and the weights of both branches (width, width)."""
    width, drawn = size["width"], {}
    for index in range(size["layers"]):
        drawn["probe%d" % index] = draw(random, width, width**-0.5)
        drawn["upper%d" % index] = layers.he(random, (width, width), width)
        drawn["lower%d" % index] = draw(random, (width, width), LOWER_SCALE * width**-0.5)
    return drawn


def batch(size, random, source=None):
    """Draw rows (batch, width), standard normal."""
    return (random.standard_normal((size["batch"], size["width"])).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the output (batch, width) in the dtype of ``batch``."""
    (hidden,) = batch
    for index in range(size["layers"]):
        if (hidden[0] * parameters["probe%d" % index]).sum() > 0:
            hidden = layers.relu(hidden @ parameters["upper%d" % index])
        else:
            hidden = np.tanh(hidden @ parameters["lower%d" % index])
    return {"output": hidden}


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of one product of matrices and of a probe in each layer."""
    return 2.0 * size["layers"] * size["width"] * (size["batch"] * size["width"] + 1)


def compulsory_bytes(size, itemsize):
    """Count a probe and the weights of one branch in each layer read once, the rows read and the output written."""
    weights = size["layers"] * (size["width"] + 1) * size["width"]
    return float(itemsize) * (weights + 2 * size["batch"] * size["width"])
