"""Implements lenet-train in Theano: shared variables in Theano's own layout, NCHW, and one function for a step."""

from __future__ import annotations

import numpy as np
import theano
from theano import tensor

from ...frameworks.theano.adapter import training
from .. import cnn
from . import OPTIMIZER


def pool(hidden):
    """Pool 2 by 2 by the maximum of four parts, of which one gets the gradient.

    pool_2d gives the whole gradient to each of several equal maxima, which images with even areas have.
    """
    rows, columns = hidden.shape[2] // 2 * 2, hidden.shape[3] // 2 * 2
    upper, lower = (
        tensor.maximum(hidden[:, :, row:rows:2, 0:columns:2], hidden[:, :, row:rows:2, 1:columns:2]) for row in (0, 1)
    )
    return tensor.maximum(upper, lower)


def logits(variables, images):
    """Compute the logits of a network of blocks and dense layers, see ``cnn``."""
    hidden = images.dimshuffle(0, 3, 1, 2)
    for name in cnn.numbered(variables, "conv"):
        weight, bias = variables[name + "_weight"], variables[name + "_bias"]
        convolved = tensor.nnet.conv2d(
            hidden, weight, filter_shape=weight.get_value(borrow=True).shape, border_mode="valid", filter_flip=False
        )
        hidden = pool(tensor.nnet.relu(convolved + bias.dimshuffle("x", 0, "x", "x")))
    hidden, dense = hidden.flatten(2), cnn.numbered(variables, "dense")
    for name in dense:
        hidden = tensor.dot(hidden, variables[name + "_weight"]) + variables[name + "_bias"]
        if name != dense[-1]:
            hidden = tensor.nnet.relu(hidden)
    return hidden


def loss(variables, images, labels):
    return tensor.nnet.categorical_crossentropy(tensor.nnet.softmax(logits(variables, images)), labels).mean()


def in_theano(parameters):
    """Return the specification's parameters in Theano's layout: filters first, images flattened channels first."""
    found = dict(parameters)
    for name in cnn.numbered(parameters, "conv"):
        found[name + "_weight"] = np.ascontiguousarray(parameters[name + "_weight"].transpose(3, 2, 0, 1))
        channels = parameters[name + "_bias"].size
    rows, columns = parameters["dense1_weight"].shape
    last = parameters["dense1_weight"].reshape(rows // channels, channels, columns)
    found["dense1_weight"] = np.ascontiguousarray(last.transpose(1, 0, 2)).reshape(rows, columns)
    return found


def in_specification(parameters):
    """Undo ``in_theano``."""
    found = dict(parameters)
    for name in cnn.numbered(parameters, "conv"):
        found[name + "_weight"] = parameters[name + "_weight"].transpose(2, 3, 1, 0)
        channels = parameters[name + "_bias"].size
    rows, columns = parameters["dense1_weight"].shape
    first = parameters["dense1_weight"].reshape(channels, rows // channels, columns)
    found["dense1_weight"] = first.transpose(1, 0, 2).reshape(rows, columns)
    return found


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    # With several threads the process crashes: the convolution probably calls NumPy's products without Python's lock.
    theano.config.openmp = False
    placed = in_theano(parameters)
    return training(loss, placed, transform, optimizer, layout="NCHW", named=in_specification, outputs=logits)
