"""Implements conjugate-gradient in TensorFlow: a tf.while_loop, whose form depends on what compiles it."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import BY_XLA
from ..stencil.tensorflow import neighbours_for, padded, repeat, shifted

#: Measured with TensorFlow 2.10, whose XLA sums faster, and 2.21.
SUMS_BY_ROWS = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 21)


def by_sum(left, right):
    return tf.reduce_sum(left * right)


def by_rows(left, right):
    """Return the scalar product of two grids; rows are summed by a product with ones.

    With XLA's sum over all points the method took 2.1 times as long in TensorFlow 2.21 (small), and 0.7 times in 2.10.
    """
    return tf.reduce_sum(tf.linalg.matvec(left * right, tf.ones_like(left[0])))


def form_for(mode):
    """Return how neighbours are added up and how a scalar product is computed."""
    if mode not in BY_XLA:
        return neighbours_for(mode), by_sum
    return (shifted, by_rows) if SUMS_BY_ROWS else (padded, by_sum)


def build(size, parameters, batch, transform, each=1):
    """Build it with ``each`` iterations in a turn of the loop."""
    neighbours, dot = form_for(transform.mode)

    def solve(variables, right):
        shift = tf.convert_to_tensor(variables["shift"])

        def step(solution, residual, direction, energy):
            product = (4 + shift) * direction - neighbours(direction)
            length = energy / dot(direction, product)
            residual -= length * product
            found = dot(residual, residual)
            return solution + length * direction, residual, residual + found / energy * direction, found

        initial = (tf.zeros_like(right), right, right, dot(right, right))
        return {"solution": repeat(size["iterations"], step, initial, each)[0]}

    return inference(solve, parameters, transform)
