"""Holds what lengths-exact, lengths-padded and lengths-bucketed share: an encoder, and sequences of many lengths.

A step encodes a batch of each length, in one call for each. The model is an embedding, a block of attention and a
feed-forward layer, each added to its input, and the mean over the sequence. Padded sequences have the same results.
"""

from __future__ import annotations

import numpy as np

from . import layers
from .transformer import draw

ITEM = "sequence"
SIZES = {
    "check": {"batch": 2, "width": 8, "vocabulary": 16, "lengths": 4, "shortest": 3, "longest": 16},
    "tiny": {"batch": 1, "width": 32, "vocabulary": 1000, "lengths": 8, "shortest": 8, "longest": 64},
    "small": {"batch": 1, "width": 128, "vocabulary": 8000, "lengths": 32, "shortest": 16, "longest": 512},
    "medium": {"batch": 8, "width": 256, "vocabulary": 32000, "lengths": 32, "shortest": 16, "longest": 512},
    "large": {"batch": 32, "width": 1024, "vocabulary": 32000, "lengths": 32, "shortest": 16, "longest": 512},
}
PRECISIONS = ("float32",)
TRAINING = False
#: Between two calls lie so many lengths of the ascending order, so that no call's length is near the last one's.
STRIDE = 7
#: The hidden layer is so many times as wide as the others.
WIDER = 4


def lengths(size):
    """Return the lengths of a step in the order of its calls: short ones are more frequent."""
    count, longest = size["lengths"], size["longest"]
    ascending = np.geomspace(size["shortest"], longest, count).round().astype(int)
    return [int(ascending[index * STRIDE % count]) for index in range(count)]


def bucket(length):
    """Return the power of two that is not below ``length``."""
    return 1 << (length - 1).bit_length()


def names(size):
    """Name the output of each call."""
    return tuple("pooled%d" % index for index in range(size["lengths"]))


def calls(size, batch):
    """Divide a batch into the arguments of the calls: tokens, and their length where they are padded."""
    count = size["lengths"]
    return list(zip(*(batch[start : start + count] for start in range(0, len(batch), count))))


def parameters(size, random):
    """Draw the embeddings (vocabulary, width), standard normal, and the weights of the layers."""
    width = size["width"]
    return {
        "table": draw(random, (size["vocabulary"], width), 1.0),
        "qkv": draw(random, (width, 3 * width), width**-0.5),
        "output": draw(random, (width, width), width**-0.5),
        "expand": layers.he(random, (width, WIDER * width), width),
        "contract": draw(random, (WIDER * width, width), (WIDER * width) ** -0.5),
    }


def exact(size, random, source=None):
    """Draw tokens (batch, length) for each length."""
    return tuple(
        random.randint(0, size["vocabulary"], (size["batch"], length)).astype(np.int32) for length in lengths(size)
    )


def padded(size, batch, widths):
    """Pad tokens with zeros to ``widths``; return them and, for each, how many tokens count, (1,)."""
    filled = [np.pad(tokens, ((0, 0), (0, width - tokens.shape[1]))) for tokens, width in zip(batch, widths)]
    return (*filled, *(np.array([tokens.shape[1]], np.int32) for tokens in batch))


def encode(parameters, tokens):
    """Encode tokens (batch, length) to (batch, width) in the dtype of ``parameters``."""
    hidden = parameters["table"][tokens]
    queries, keys, values = np.split(hidden @ parameters["qkv"], 3, axis=-1)
    scores = queries @ keys.transpose(0, 2, 1) / hidden.dtype.type(np.sqrt(hidden.shape[-1]))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    hidden = hidden + (shares / shares.sum(axis=-1, keepdims=True)) @ values @ parameters["output"]
    hidden = hidden + layers.relu(hidden @ parameters["expand"]) @ parameters["contract"]
    return hidden.mean(axis=1)


def reference(size, parameters, batch):
    """Encode what counts of each call's tokens."""
    found = (encode(parameters, tokens[:, : int(of[0][0])] if of else tokens) for tokens, *of in calls(size, batch))
    return dict(zip(names(size), found))


def items(size):
    return size["lengths"] * size["batch"]


def useful_flops(size):
    """Count the products of matrices for the tokens that count; what is spent on padding is lost."""
    width = size["width"]
    weights = (4 + 2 * WIDER) * width**2
    return sum(2.0 * size["batch"] * (length * weights + 2 * length**2 * width) for length in lengths(size))


def compulsory_bytes(size, itemsize):
    """Count the weights of the layers read once, and the outputs written; a cache may hold the embeddings."""
    width = size["width"]
    return float(itemsize) * ((4 + 2 * WIDER) * width**2 + items(size) * width)
