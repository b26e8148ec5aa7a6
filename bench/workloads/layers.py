"""Computes the layers of the specifications, forward and backward, in NumPy and in the dtype of their inputs.

Each forward returns ``(output, cache)`` and its backward takes ``(gradient of the output, cache)``. These layers are
the reference, so they are simple rather than fast; tests compare every backward pass with finite differences.
"""

from __future__ import annotations

import numpy as np


def he(random, shape, fan_in):
    """Draw float32 weights with variance 2 / fan_in (He et al. 2015)."""
    return (random.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


def linear(inputs, weight, bias):
    """Map (…, rows) by weight (rows, columns) and bias (columns,)."""
    return inputs @ weight + bias, (inputs, weight)


def linear_backward(gradient, cache):
    """Return the gradients of inputs, weight and bias."""
    inputs, weight = cache
    flat_inputs = inputs.reshape(-1, inputs.shape[-1])
    flat_gradient = gradient.reshape(-1, gradient.shape[-1])
    return gradient @ weight.T, flat_inputs.T @ flat_gradient, flat_gradient.sum(axis=0)


def relu(inputs):
    return np.maximum(inputs, 0), inputs > 0


def relu_backward(gradient, cache):
    return gradient * cache


def cross_entropy(logits, labels):
    """Compute the mean softmax cross-entropy of logits (…, classes) against integer labels (…)."""
    flat = logits.reshape(-1, logits.shape[-1])
    shifted = flat - flat.max(axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    picked = log_probabilities[np.arange(len(flat)), labels.reshape(-1)]
    return -picked.mean(), (log_probabilities, labels, logits.shape)


def cross_entropy_backward(cache):
    """Return the gradient of the mean cross-entropy with respect to the logits."""
    log_probabilities, labels, shape = cache
    gradient = np.exp(log_probabilities)
    gradient[np.arange(len(gradient)), labels.reshape(-1)] -= 1
    return (gradient / len(gradient)).reshape(shape)
