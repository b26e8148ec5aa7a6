"""Implements turbulent-kinetic-energy in TensorFlow: the specification's formulas with the functions of tf.

With XLA, levels of zeros are padding, and levels are written into an array. XLA otherwise computes the parts of a
concatenation inside of the loop that uses it, which chooses a part for each element.
"""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import BY_XLA
from ...frameworks.tensorflow.programs import GRID
from ..equation_of_state.tensorflow import OPERATIONS
from . import advance


def framed(levels):
    return tf.pad(levels, [[1, 1], [0, 0], [0, 0]])


def stack(arrays, axis):
    """Stack arrays along a new first axis."""
    assert axis == 0
    stacked = tf.TensorArray(arrays[0].dtype, len(arrays), element_shape=arrays[0].shape)
    for index, array in enumerate(arrays):
        stacked = stacked.write(index, array)
    return stacked.stack()


COMPILED = OPERATIONS._replace(framed=framed, stack=stack)


def build(size, parameters, batch, transform):
    operations = COMPILED if transform.mode in BY_XLA else OPERATIONS

    def compute(variables, *batch):
        return advance(operations, {name: tf.convert_to_tensor(value) for name, value in variables.items()}, *batch)

    return inference(compute, parameters, transform, not_frozen=GRID)
