"""Implements conjugate-gradient in TensorFlow: a tf.while_loop."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..stencil.tensorflow import neighbours_for, repeat


def build(size, parameters, batch, transform, each=1):
    """Build it with ``each`` iterations in a turn of the loop."""
    neighbours = neighbours_for(transform.mode)

    def solve(variables, right):
        shift = tf.convert_to_tensor(variables["shift"])

        def step(solution, residual, direction, energy):
            product = (4 + shift) * direction - neighbours(direction)
            length = energy / tf.reduce_sum(direction * product)
            residual -= length * product
            found = tf.reduce_sum(residual * residual)
            return solution + length * direction, residual, residual + found / energy * direction, found

        initial = (tf.zeros_like(right), right, right, tf.reduce_sum(right * right))
        return {"solution": repeat(size["iterations"], step, initial, each)[0]}

    return inference(solve, parameters, transform)
