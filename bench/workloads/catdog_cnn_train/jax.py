"""Implements catdog-cnn-train in JAX: pure functions with optax, NHWC, which was the faster layout on a CPU."""

from __future__ import annotations

import jax
import optax

from ...frameworks.jax.adapter import functional_training
from ..lenet_train.jax import block
from . import OPTIMIZER


def logits(parameters, images):
    hidden = block(images, parameters["conv1_weight"], parameters["conv1_bias"])
    hidden = block(hidden, parameters["conv2_weight"], parameters["conv2_bias"])
    hidden = block(hidden, parameters["conv3_weight"], parameters["conv3_bias"])
    hidden = hidden.reshape(len(images), -1)
    hidden = jax.nn.relu(hidden @ parameters["dense1_weight"] + parameters["dense1_bias"])
    return hidden @ parameters["dense2_weight"] + parameters["dense2_bias"]


def loss(parameters, images, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits(parameters, images), labels).mean()


def build(size, parameters, batch, transform):
    return functional_training(loss, parameters, transform, OPTIMIZER, layout="NHWC", outputs=logits)
