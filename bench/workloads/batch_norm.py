"""Computes batch normalisation of the specifications (Ioffe & Szegedy 2015), with PyTorch's conventions.

Its three conventions differ from framework to framework: the share of the new statistics (Keras' default is 0.01,
flax's 0.01), epsilon (Keras' default is 1e-3), and whether the running variance is unbiased (in flax it is not).
"""

from __future__ import annotations

import numpy as np

EPSILON = 1e-5
#: The share of a batch's statistics in the new running ones.
MOMENTUM = 0.1


def normalise(images, mean, variance, scale, shift):
    """Map each channel, the last axis, to ``scale`` times its normal value, plus ``shift``."""
    return (images - mean) / np.sqrt(variance + EPSILON) * scale + shift


def train(images, scale, shift, running_mean, running_variance):
    """Normalise by the batch's own biased variance; return that and the new running mean and unbiased variance."""
    axes = tuple(range(images.ndim - 1))
    mean = images.mean(axis=axes)
    variance = np.square(images - mean).mean(axis=axes)
    count = images.size // images.shape[-1]
    return (
        normalise(images, mean, variance, scale, shift),
        (1 - MOMENTUM) * running_mean + MOMENTUM * mean,
        (1 - MOMENTUM) * running_variance + MOMENTUM * count / (count - 1) * variance,
    )
