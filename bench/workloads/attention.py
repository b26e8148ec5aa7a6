"""Computes attention, layer normalisation, GELU and embedding of the specifications, in the dtype of their inputs."""

from __future__ import annotations

import math

import numpy as np

from ..differentiation import primitive

#: Added to the variance in a layer normalisation; PyTorch's default.
EPSILON = 1e-5


def layer_norm(inputs, scale, shift):
    """Normalise the last axis to mean 0 and variance 1, then map it by ``scale`` and ``shift`` (Ba et al. 2016)."""
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    inverse = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON)
    return centred * inverse * scale + shift


@primitive
def erf(inputs):
    """Compute the error function, which NumPy lacks, in float64 for each element."""
    values = map(math.erf, inputs.ravel().tolist())
    result = np.fromiter(values, np.float64, inputs.size).reshape(inputs.shape).astype(inputs.dtype)
    return result, (lambda gradient: gradient * (np.exp(-inputs * inputs) * (2 / math.sqrt(math.pi))),)


def gelu(inputs):
    """Compute the Gaussian error linear unit, inputs · Φ(inputs), in its exact form (Hendrycks & Gimpel 2016).

    The tanh approximation is not used, as it takes PyTorch and eager TensorFlow four times as long.
    """
    return inputs * (0.5 * (1 + erf(inputs * math.sqrt(0.5))))


def split_heads(projected, parts, heads):
    """Split (batch, sequence, parts · width) into ``parts`` arrays (batch, heads, sequence, width / heads)."""
    batch, sequence, columns = projected.shape
    split = projected.reshape(batch, sequence, parts, heads, columns // (parts * heads))
    return tuple(split.transpose(2, 0, 3, 1, 4))


def merge_heads(separate):
    """Join (batch, heads, sequence, head width) to (batch, sequence, width): the inverse of split_heads."""
    batch, heads, sequence, width = separate.shape
    return separate.transpose(0, 2, 1, 3).reshape(batch, sequence, heads * width)


def attention(queries, keys, values, causal):
    """Compute softmax(queries keysᵀ / √head width) values (Vaswani et al. 2017).

    Each is (batch, heads, sequence, head width); ``causal`` masks later positions.
    """
    scores = queries @ keys.swapaxes(-1, -2) * (1 / math.sqrt(queries.shape[-1]))
    if causal:
        visible = np.tril(np.ones(scores.shape[-2:], bool))
        scores = np.where(visible, scores, scores.dtype.type(-np.inf))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ values
