"""Implements isoneutral-mixing in TensorFlow: the specification's formulas with the functions of tf."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.programs import GRID
from ..equation_of_state.tensorflow import OPERATIONS
from . import advance


def build(size, parameters, batch, transform):
    def compute(variables, *batch):
        return advance(OPERATIONS, {name: tf.convert_to_tensor(value) for name, value in variables.items()}, *batch)

    return inference(compute, parameters, transform, not_frozen=GRID)
