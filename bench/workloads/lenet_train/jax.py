"""Implements lenet-train in JAX: pure functions with optax, NHWC, which was the faster layout on a CPU."""

from __future__ import annotations

import functools

import jax

from ...frameworks.jax import convolution, losses
from ...frameworks.jax.adapter import functional_training
from . import OPTIMIZER


def block(images, weight, bias, convolve):
    """Convolve, apply ReLU and pool 2 by 2, dropping an odd last row and column.

    Pooling is a maximum over reshaped axes. With lax.reduce_window, whose gradient is a select-and-scatter, the steps
    of these networks took up to 1.6 times as long on a CPU.
    """
    convolved = convolve(images, weight, 1, 0)
    count, height, width, channels = convolved.shape
    rows, columns = height // 2, width // 2
    rectified = jax.nn.relu(convolved + bias)[:, : 2 * rows, : 2 * columns]
    return rectified.reshape(count, rows, 2, columns, 2, channels).max(axis=(2, 4))


def logits(parameters, images, convolve=convolution.convolve):
    hidden = block(images, parameters["conv1_weight"], parameters["conv1_bias"], convolve)
    hidden = block(hidden, parameters["conv2_weight"], parameters["conv2_bias"], convolve)
    hidden = hidden.reshape(len(images), -1)
    hidden = jax.nn.relu(hidden @ parameters["dense1_weight"] + parameters["dense1_bias"])
    hidden = jax.nn.relu(hidden @ parameters["dense2_weight"] + parameters["dense2_bias"])
    return hidden @ parameters["dense3_weight"] + parameters["dense3_bias"]


def loss(parameters, images, labels, convolve=convolution.convolve, score=losses.cross_entropy):
    return score(logits(parameters, images, convolve), labels)


def of_mode(loss, mode):
    """Return a network's ``loss`` with the convolution and the cross-entropy of a mode."""
    return functools.partial(loss, convolve=convolution.of_mode(mode), score=losses.of_mode(mode))


def build(size, parameters, batch, transform):
    found = of_mode(loss, transform.mode)
    return functional_training(found, parameters, transform, OPTIMIZER, layout="NHWC", outputs=logits)
