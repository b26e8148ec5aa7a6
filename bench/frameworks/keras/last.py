"""Gives the layer of a network's logits."""

from __future__ import annotations

from keras import layers

from .. import precisions
from .versions import ops


class Wide(layers.Dense):
    """Adds the bias in float32, because its gradient is a sum over all rows.

    In bfloat16 that was a quarter off in lstm-lm-train, size small, and in mlp-train a twentieth in TensorFlow.
    """

    def call(self, inputs, training=None):
        return ops.cast(ops.matmul(inputs, self.kernel), "float32") + ops.cast(self.bias, "float32")


def logits(classes, transform):
    """Make the last layer, with a bias, for the precision of a cell."""
    return (Wide if transform.precision == precisions.MIXED else layers.Dense)(classes)
