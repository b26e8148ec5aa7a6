"""Specifies lstm-lm-train: one SGD step of a recurrent language model, an LSTM of several layers, on random tokens.

The gates of a layer are ordered input, forget, cell, output. They have no bias, since PyTorch has two for each gate and
the other frameworks have one.
"""

from __future__ import annotations

import numpy as np

from .. import layers
from ..transformer import draw
from ..transformer_train import batch

__all__ = ["batch"]

ITEM = "token"
SIZES = {
    "check": {"batch": 2, "sequence": 4, "width": 8, "layers": 2, "vocabulary": 16},
    "tiny": {"batch": 4, "sequence": 16, "width": 64, "layers": 2, "vocabulary": 256},
    "small": {"batch": 16, "sequence": 32, "width": 256, "layers": 2, "vocabulary": 2048},
    # The medium and large models of Zaremba et al. 2014 on the Penn Treebank.
    "medium": {"batch": 20, "sequence": 35, "width": 650, "layers": 2, "vocabulary": 10000},
    "large": {"batch": 20, "sequence": 35, "width": 1500, "layers": 2, "vocabulary": 10000},
}
PRECISIONS = ("float32", "mixed-bfloat16")
TRAINING = True
OPTIMIZER = {"name": "sgd", "learning_rate": 1.0}


def parameters(size, random):
    """Draw embedding and dense layer, and for each layer weights of the input and of the state (width, 4 · width)."""
    width, scale = size["width"], size["width"] ** -0.5
    drawn = {"embedding": draw(random, (size["vocabulary"], width), 1.0)}
    for index in range(size["layers"]):
        drawn["layer%d.input" % index] = draw(random, (width, 4 * width), scale)
        drawn["layer%d.state" % index] = draw(random, (width, 4 * width), scale)
    drawn["dense.weight"] = draw(random, (width, size["vocabulary"]), scale)
    drawn["dense.bias"] = draw(random, size["vocabulary"], 0.1)
    return drawn


def sigmoid(inputs):
    return 1 / (1 + np.exp(-inputs))


def recur(inputs, weight, recurrent):
    """Map inputs (batch, sequence, width) to the hidden states of a layer (Hochreiter & Schmidhuber 1997)."""
    count, sequence, width = inputs.shape
    projected = inputs @ weight
    cell = hidden = np.zeros((count, width), inputs.dtype)
    states = []
    for step in range(sequence):
        gates = projected[:, step] + hidden @ recurrent
        entered, kept, new, shown = (gates[:, part * width : (part + 1) * width] for part in range(4))
        cell = sigmoid(kept) * cell + sigmoid(entered) * np.tanh(new)
        hidden = sigmoid(shown) * np.tanh(cell)
        states.append(hidden)
    return np.stack(states, axis=1)


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy of the next tokens, from states of zero, in the dtype of ``parameters``."""
    tokens, targets = batch
    hidden = parameters["embedding"][tokens]
    for index in range(size["layers"]):
        hidden = recur(hidden, parameters["layer%d.input" % index], parameters["layer%d.state" % index])
    logits = hidden @ parameters["dense.weight"] + parameters["dense.bias"]
    return layers.cross_entropy(logits, targets), state


def items(size):
    return size["batch"] * size["sequence"]


def useful_flops(size):
    """Count the FLOPs of the matrix products, one forward and two backward; the first states are zero."""
    square = 4 * size["width"] ** 2
    recurrent = size["batch"] * (size["sequence"] - 1) * square
    return 6.0 * (
        size["layers"] * (items(size) * square + recurrent) + items(size) * size["width"] * size["vocabulary"]
    )


def compulsory_bytes(size, itemsize):
    """Count layers read and written once, the used rows of the embedding at most, and int32 tokens and targets."""
    dense = (size["width"] + 1) * size["vocabulary"]
    rows = 1  # All tokens of a batch may be the same.
    count = 8 * size["layers"] * size["width"] ** 2 + dense + rows * size["width"]
    return 2.0 * itemsize * count + 2 * 4 * items(size)
