"""Implements lenet-train in JAX: pure functions with optax, NHWC, which was the faster layout on a CPU."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax import convolution, losses
from ...frameworks.jax.adapter import functional_training
from ...frameworks.jax.compiler import JITTED
from . import OPTIMIZER


def pool(images):
    """Pool 2 by 2 by a maximum over reshaped axes, dropping an odd last row and column.

    With lax.reduce_window, whose gradient is a select-and-scatter, the steps of these networks took up to 1.6 times as
    long on a CPU.
    """
    count, height, width, channels = images.shape
    rows, columns = height // 2, width // 2
    return images[:, : 2 * rows, : 2 * columns].reshape(count, rows, 2, columns, 2, channels).max(axis=(2, 4))


def pool_op_by_op(images):
    """Pool odd sides by lax.reduce_window: to drop and to refill the last row and column are calls of their own."""
    if images.shape[1] % 2 or images.shape[2] % 2:
        return lax.reduce_window(images, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return pool(images)


def block(images, weight, bias, convolve, pool):
    """Convolve, apply ReLU and pool."""
    return pool(jax.nn.relu(convolve(images, weight, 1, 0) + bias))


def logits(parameters, images, convolve=convolution.convolve, pool=pool):
    hidden = block(images, parameters["conv1_weight"], parameters["conv1_bias"], convolve, pool)
    hidden = block(hidden, parameters["conv2_weight"], parameters["conv2_bias"], convolve, pool)
    hidden = hidden.reshape(len(images), -1)
    hidden = jax.nn.relu(hidden @ parameters["dense1_weight"] + parameters["dense1_bias"])
    hidden = jax.nn.relu(hidden @ parameters["dense2_weight"] + parameters["dense2_bias"])
    return hidden @ parameters["dense3_weight"] + parameters["dense3_bias"]


def loss(parameters, images, labels, convolve=convolution.convolve, pool=pool, score=losses.cross_entropy):
    return score(logits(parameters, images, convolve, pool), labels)


def of_mode(loss, mode):
    """Return a network's ``loss`` with the convolution, the pooling and the cross-entropy of a mode."""
    pooled = pool if mode in JITTED else pool_op_by_op
    return functools.partial(loss, convolve=convolution.of_mode(mode), pool=pooled, score=losses.of_mode(mode))


def build(size, parameters, batch, transform):
    found = of_mode(loss, transform.mode)
    return functional_training(found, parameters, transform, OPTIMIZER, layout="NHWC", outputs=logits)
