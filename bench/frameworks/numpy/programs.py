"""Computes what NumPy programs share: a loss with its gradient, written by hand."""

from __future__ import annotations

import numpy as np


def cross_entropy(logits, labels):
    """Compute the mean softmax cross-entropy and its gradient with respect to the logits."""
    rows = np.arange(len(logits))
    logits = logits - logits.max(axis=-1, keepdims=True)
    powers = np.exp(logits)
    sums = powers.sum(axis=-1, keepdims=True)
    loss = np.log(sums).mean() - logits[rows, labels].mean()
    powers /= sums
    powers[rows, labels] -= 1
    powers /= len(logits)
    return loss, powers
