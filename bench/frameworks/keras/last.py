"""Gives the layer of a network's logits."""

from __future__ import annotations

from keras import layers

from .. import precisions
from .versions import ops


class Wide(layers.Dense):
    """Adds the bias in float32: in bfloat16 its gradient, a sum over all rows, was a quarter off in lstm-lm-train/small.

    In mlp-train/small it was a twentieth off in TensorFlow.
    """

    def call(self, inputs, training=None):
        return ops.cast(ops.matmul(inputs, self.kernel), "float32") + ops.cast(self.bias, "float32")


def logits(classes, transform):
    """Make the last layer, with a bias, for the precision of a cell."""
    return (Wide if transform.precision == precisions.MIXED else layers.Dense)(classes)
