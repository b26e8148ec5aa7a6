"""Implements stencil-unrolled in TensorFlow: a tf.while_loop of blocks that are loops of Python, as in stencil."""

from __future__ import annotations

from ...program import Unsupported
from ..grid import unrolled
from ..stencil import tensorflow as rolled


def verify_graph(mode, sibling):
    """Raise Unsupported for a mode in which a loop is never part of a graph."""
    if mode == "eager":
        raise Unsupported("op by op a tf.while_loop is a loop of Python, too: see {}".format(sibling))


def build(size, parameters, batch, transform):
    verify_graph(transform.mode, "stencil")
    return rolled.build(size, parameters, batch, transform, each=unrolled(size["iterations"]))
