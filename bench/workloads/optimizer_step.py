"""Specifies the steps of an optimizer alone: the gradients of many tensors are given, as a backward pass leaves them.

The folder of each optimizer takes all names of ``__all__`` from here. A size has ``tensors`` and ``width``: of three
tensors one is a matrix of this width and two are vectors, as the weight, the scale and the shift of a layer are. The
first array of a batch is the loss to which the gradients belong; a step returns it.
"""

from __future__ import annotations

import numpy as np

from ..differentiation import plain

__all__ = ["GIVEN_GRADIENTS", "ITEM", "PRECISIONS", "SIZES", "TRAINING", "items", "loss", "parameters"]

ITEM = "tensor"
SIZES = {
    "check": {"tensors": 6, "width": 8},
    "tiny": {"tensors": 30, "width": 32},
    "small": {"tensors": 300, "width": 128},
    "medium": {"tensors": 1000, "width": 128},
    "large": {"tensors": 300, "width": 512},
}
PRECISIONS = ("float32",)
TRAINING = True
GIVEN_GRADIENTS = True
#: The deviation of Adam's gradients, as it is in a network. Its steps have the same size for all, but with gradients of
#: 1 neither the place nor the value of epsilon would show.
SMALL = 1e-3


def shapes(size):
    width = size["width"]
    return {"tensor%d" % index: (width,) if index % 3 else (width, width) for index in range(size["tensors"])}


def draw(size, random, scale=1.0):
    return [(scale * random.standard_normal(shape)).astype(np.float32) for shape in shapes(size).values()]


def parameters(size, random):
    """Draw standard normal tensors."""
    return dict(zip(shapes(size), draw(size, random)))


def batches(scale):
    """Return ``batch``, whose gradients have this standard deviation."""

    def batch(size, random, source=None):
        """Draw a loss, which is a number, and a normal gradient for each tensor."""
        return (random.standard_normal(()).astype(np.float32), *draw(size, random, scale))

    return batch


def loss(size, parameters, state, batch):
    """Return the given loss; its gradients are those given."""
    value, *gradients = batch
    for parameter, gradient in zip(parameters.values(), gradients):
        # This adds nothing but its slope.
        value = value + ((parameter - plain(parameter)) * gradient).sum()
    return value, state


def items(size):
    return size["tensors"]


def elements(size):
    return sum(int(np.prod(shape)) for shape in shapes(size).values())


def work(operations, arrays):
    """Return ``useful_flops`` and ``compulsory_bytes`` of a step: operations and numbers moved for each element."""

    def useful_flops(size):
        return float(operations * elements(size))

    def compulsory_bytes(size, itemsize):
        return float(arrays * itemsize * elements(size))

    return useful_flops, compulsory_bytes
