"""Computes attention, layer normalisation, GELU and embedding of the specifications, forward and backward.

As in ``layers``, each forward returns ``(output, cache)``, its backward takes ``(gradient of the output, cache)``, and
both compute in the dtype of their inputs.
"""

from __future__ import annotations

import math

import numpy as np

#: Added to the variance in a layer normalisation; PyTorch's default.
EPSILON = 1e-5


def layer_norm(inputs, scale, shift):
    """Normalise the last axis to mean 0 and variance 1, then map it by ``scale`` and ``shift`` (Ba et al. 2016)."""
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    inverse = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON)
    normal = centred * inverse
    return normal * scale + shift, (normal, inverse, scale)


def layer_norm_backward(gradient, cache):
    """Return the gradients of inputs, scale and shift."""
    normal, inverse, scale = cache
    scaled = gradient * scale
    along = (scaled * normal).mean(axis=-1, keepdims=True)
    inputs = inverse * (scaled - scaled.mean(axis=-1, keepdims=True) - normal * along)
    rows = tuple(range(gradient.ndim - 1))
    return inputs, (gradient * normal).sum(axis=rows), gradient.sum(axis=rows)


def erf(inputs):
    """Compute the error function, which NumPy lacks, in float64 for each element."""
    values = map(math.erf, inputs.ravel().tolist())
    return np.fromiter(values, np.float64, inputs.size).reshape(inputs.shape).astype(inputs.dtype)


def gelu(inputs):
    """Compute the Gaussian error linear unit, inputs · Φ(inputs), in its exact form (Hendrycks & Gimpel 2016).

    The tanh approximation is not used, as it takes PyTorch and eager TensorFlow four times as long.
    """
    below = 0.5 * (1 + erf(inputs * math.sqrt(0.5)))
    return inputs * below, (inputs, below)


def gelu_backward(gradient, cache):
    inputs, below = cache
    density = np.exp(-0.5 * inputs * inputs) / math.sqrt(2 * math.pi)
    return gradient * (below + inputs * density)


def split_heads(projected, parts, heads):
    """Split (batch, sequence, parts · width) into ``parts`` arrays (batch, heads, sequence, width / heads)."""
    batch, sequence, columns = projected.shape
    split = projected.reshape(batch, sequence, parts, heads, columns // (parts * heads))
    return tuple(split.transpose(2, 0, 3, 1, 4))


def merge_heads(separate):
    """Join arrays (batch, heads, sequence, head width) along the last axis of one array: the inverse of split_heads."""
    stacked = np.stack(separate, axis=0)
    parts, batch, heads, sequence, width = stacked.shape
    return stacked.transpose(1, 3, 0, 2, 4).reshape(batch, sequence, parts * heads * width)


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
    return weights @ values, (queries, keys, values, weights)


def attention_backward(gradient, cache):
    """Return the gradients of queries, keys and values; a masked position has weight 0 and so gradient 0."""
    queries, keys, values, weights = cache
    weights_gradient = gradient @ values.swapaxes(-1, -2)
    expected = (weights_gradient * weights).sum(axis=-1, keepdims=True)
    scores = weights * (weights_gradient - expected) * (1 / math.sqrt(queries.shape[-1]))
    return scores @ keys, scores.swapaxes(-1, -2) @ queries, weights.swapaxes(-1, -2) @ gradient


def embedding(indices, table):
    """Look up rows of table (vocabulary, width) for integer indices (…)."""
    return table[indices], (indices, table.shape)


def embedding_backward(gradient, cache):
    """Return the gradient of the table; the gradients of a row that was looked up several times are added."""
    indices, shape = cache
    table = np.zeros(shape, gradient.dtype)
    np.add.at(table, indices, gradient)
    return table
