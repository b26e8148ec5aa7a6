"""Implements lstm-cell-lm-train in TensorFlow: Keras' LSTMCell in a loop of Python, which a graph unrolls."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks import precisions
from ..lstm_lm_train import tensorflow as unrolled


def give(cell, weight, recurrent):
    """Let a cell of Keras compute with variables that exist already; its gates have the order of the specification."""
    cell.kernel, cell.recurrent_kernel, cell.bias = weight, recurrent, None
    cell.built = True


def build(size, parameters, batch, transform):
    # The type in which cells compute: they would widen what is narrower than they are.
    dtype = "bfloat16" if transform.precision == precisions.MIXED else None
    # A cell has a variable for its random numbers. Made during a trace, it would make tf.function trace twice.
    cells = [tf.keras.layers.LSTMCell(size["width"], use_bias=False, dtype=dtype) for _ in range(size["layers"])]

    def layer(variables, index, inputs):
        cell = cells[index]
        # In mixed precision the weights of a step are cast in that step.
        if dtype or not cell.built:
            give(cell, variables["layer%d.input" % index], variables["layer%d.state" % index])
        state, shown = [tf.zeros_like(inputs[0])] * 2, []
        for each in inputs:
            hidden, state = cell(each, state)
            shown.append(hidden)
        return shown

    return unrolled.build(size, parameters, batch, transform, layer=layer)
