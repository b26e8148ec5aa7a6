"""Computes the layers of the specifications in NumPy, in the dtype of their inputs.

These layers are the reference, so they are simple rather than fast. Their gradients come from bench.differentiation.
"""

from __future__ import annotations

import numpy as np


def he(random, shape, fan_in):
    """Draw float32 weights with variance 2 / fan_in (He et al. 2015)."""
    return (random.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


def relu(inputs):
    return np.maximum(inputs, 0)


def cross_entropy(logits, labels):
    """Compute the mean softmax cross-entropy of logits (…, classes) against integer labels (…)."""
    flat = logits.reshape(-1, logits.shape[-1])
    shifted = flat - flat.max(axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return -log_probabilities[np.arange(len(flat)), labels.reshape(-1)].mean()
