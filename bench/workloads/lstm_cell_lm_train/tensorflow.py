"""Implements lstm-cell-lm-train in TensorFlow: Keras' LSTMCell in a loop of Python, which a graph unrolls."""

from __future__ import annotations

import tensorflow as tf

from ..lstm_lm_train import tensorflow as unrolled


def cell_of(weight, recurrent):
    """Make Keras' cell of weights that exist already; its gates have the order of the specification."""
    cell = tf.keras.layers.LSTMCell(recurrent.shape[0], use_bias=False)
    cell.kernel, cell.recurrent_kernel, cell.bias = weight, recurrent, None
    cell.built = True
    return cell


def build(size, parameters, batch, transform):
    cells = []

    def layer(variables, index, inputs):
        if index == len(cells):
            cells.append(cell_of(variables["layer%d.input" % index], variables["layer%d.state" % index]))
        state, shown = [tf.zeros_like(inputs[0])] * 2, []
        for each in inputs:
            hidden, state = cells[index](each, state)
            shown.append(hidden)
        return shown

    return unrolled.build(size, parameters, batch, transform, layer=layer)
