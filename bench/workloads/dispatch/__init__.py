"""Specifies dispatch: a chain of dependent operations on a short vector, which measures the cost of calling operations.

A link of the chain is four operations, ``x = tanh(x * weight + bias) - offset``. The links of a cycle differ and the
cycles repeat: a compiled function gets few arrays, so that its time is not that of passing arguments.
"""

from __future__ import annotations

import numpy as np

ITEM = "operation"
OPERATIONS_PER_LINK = 4
SIZES = {
    "check": {"cycles": 1, "links": 5, "elements": 16},
    "tiny": {"cycles": 2, "links": 5, "elements": 16},
    "small": {"cycles": 5, "links": 5, "elements": 16},
}
PRECISIONS = ("float32", "bfloat16", "float16", "float64")
TRAINING = False


def parameters(size, random):
    """Draw weight0, bias0, offset0, … for the links of one cycle, each of shape (elements,).

    The weights compensate for the contraction of tanh, and the values stay where it is weak. Otherwise the chain would
    approach a fixed point, and its end would not depend on its beginning.
    """
    drawn = {}
    for link in range(size["links"]):
        drawn["weight%d" % link] = random.uniform(1.0, 1.1, size["elements"]).astype(np.float32)
        drawn["bias%d" % link] = random.uniform(-0.02, 0.02, size["elements"]).astype(np.float32)
        drawn["offset%d" % link] = random.uniform(-0.02, 0.02, size["elements"]).astype(np.float32)
    return drawn


def batch(size, random, source=None):
    """Draw the vector (elements,), uniform in [-0.5, 0.5)."""
    return (random.uniform(-0.5, 0.5, size["elements"]).astype(np.float32),)


def cycle(size, parameters):
    """Return the (weight, bias, offset) of each link of a cycle."""
    return [
        tuple(parameters[name + str(link)] for name in ("weight", "bias", "offset")) for link in range(size["links"])
    ]


def reference(size, parameters, batch):
    """Compute the vector at the end of the chain in the dtype of ``parameters``."""
    (values,) = batch
    links = cycle(size, parameters)
    for _ in range(size["cycles"]):
        for weight, bias, offset in links:
            values = np.tanh(values * weight + bias) - offset
    return {"values": values}


def items(size):
    return OPERATIONS_PER_LINK * size["links"] * size["cycles"]


def useful_flops(size):
    """Count one per operation and element, tanh included."""
    return float(items(size) * size["elements"])


def compulsory_bytes(size, itemsize):
    """Count the vector read and written once, and the parameters of a cycle read once."""
    return float(itemsize) * size["elements"] * (2 + 3 * size["links"])
