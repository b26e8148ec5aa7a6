"""Implements catdog-cnn-train in JAX: pure functions with optax, NHWC, which was the faster layout on a CPU."""

from __future__ import annotations

import jax

from ...frameworks.jax import convolution, losses
from ...frameworks.jax.adapter import functional_training
from ..lenet_train.jax import block, of_mode, pool
from . import OPTIMIZER


def logits(parameters, images, convolve=convolution.convolve, pool=pool):
    hidden = block(images, parameters["conv1_weight"], parameters["conv1_bias"], convolve, pool)
    hidden = block(hidden, parameters["conv2_weight"], parameters["conv2_bias"], convolve, pool)
    hidden = block(hidden, parameters["conv3_weight"], parameters["conv3_bias"], convolve, pool)
    hidden = hidden.reshape(len(images), -1)
    hidden = jax.nn.relu(hidden @ parameters["dense1_weight"] + parameters["dense1_bias"])
    return hidden @ parameters["dense2_weight"] + parameters["dense2_bias"]


def loss(parameters, images, labels, convolve=convolution.convolve, pool=pool, score=losses.cross_entropy):
    return score(logits(parameters, images, convolve, pool), labels)


def build(size, parameters, batch, transform):
    found = of_mode(loss, transform.mode)
    return functional_training(found, parameters, transform, OPTIMIZER, layout="NHWC", outputs=logits)
