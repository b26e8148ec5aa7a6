"""Forms of stencil and conjugate-gradient in TensorFlow: neighbours, grids that are written, and scalar products."""

from __future__ import annotations

import functools

import tensorflow as tf

from bench.workloads.conjugate_gradient import tensorflow as gradient
from bench.workloads.stencil import tensorflow as stencil

present_made_anew, present_written_in_turn = stencil.made_anew, stencil.written_in_turn

STENCIL = "bench.workloads.stencil.tensorflow:"
GRADIENT = "bench.workloads.conjugate_gradient.tensorflow:"
DIFFUSE = STENCIL + "written_in_turn"


def convolved(grid):
    """Add up the four neighbours by a convolution."""
    kernel = tf.reshape(tf.constant([0, 1, 0, 1, 0, 1, 0, 1, 0], grid.dtype), (3, 3, 1, 1))
    return tf.nn.conv2d(grid[None, :, :, None], kernel, 1, "SAME")[0, :, :, 0]


def made_of(neighbours):
    return functools.partial(present_made_anew, neighbours)


def written(neighbours, rate, grid, iterations, each=2):
    return present_written_in_turn(rate, grid, iterations, each)


def flattened(left, right):
    return tf.tensordot(left, right, 2)


FORMS = {
    "padded": {STENCIL + "by_axes": stencil.padded, GRADIENT + "shifted": stencil.padded},
    "shifted": {GRADIENT + "padded": stencil.shifted},
    "by axes": {STENCIL + "padded": stencil.by_axes},
    "convolved": {STENCIL + "by_axes": convolved},
    "new padded grids": {DIFFUSE: made_of(stencil.padded)},
    "new shifted grids": {DIFFUSE: made_of(stencil.shifted)},
    "written in turn": {STENCIL + "made_anew": written},
    "summed": {GRADIENT + "by_rows": gradient.by_sum},
    "flattened": {GRADIENT + "by_rows": flattened, GRADIENT + "by_sum": flattened},
    "rows": {GRADIENT + "by_sum": gradient.by_rows},
}
