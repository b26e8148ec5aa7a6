"""Computes accuracy and loss from logits, with one function for every framework, in float64."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np


def scores(logits: Any, labels: Any) -> Dict[str, float]:
    """Return what outputs (examples, classes) and integer labels (examples,) give, each as a mean over the examples.

    ``accuracy`` is the share whose largest logit is that of the label; the first counts where several are equal.
    ``cross_entropy`` is that of the softmax, in nats. ``squared_error`` is the mean over examples and classes of the
    squared difference between the softmax and the one-hot label.
    """
    logits = np.asarray(logits, np.float64)
    labels = np.asarray(labels)
    if logits.ndim != 2 or labels.shape != logits.shape[:1] or not len(labels):
        raise ValueError("logits {} and labels {} do not belong together".format(logits.shape, labels.shape))
    if not np.isfinite(logits).all():
        raise FloatingPointError("the outputs are not finite: the training has diverged")
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    one_hot = np.zeros_like(logits)
    one_hot[rows, labels] = 1.0
    return {
        "accuracy": float((logits.argmax(axis=1) == labels).mean()),
        "cross_entropy": float(-logs[rows, labels].mean()),
        "squared_error": float(((np.exp(logs) - one_hot) ** 2).mean()),
    }
