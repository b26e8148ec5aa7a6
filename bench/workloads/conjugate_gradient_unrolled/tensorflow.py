"""Implements conjugate-gradient-unrolled in TensorFlow: a tf.while_loop of blocks that are loops of Python."""

from __future__ import annotations

from ..conjugate_gradient import tensorflow as rolled
from ..grid import unrolled
from ..stencil_unrolled.tensorflow import verify_graph


def build(size, parameters, batch, transform):
    verify_graph(transform.mode, "conjugate-gradient")
    return rolled.build(size, parameters, batch, transform, each=unrolled(size["iterations"]))
