"""Implements catdog-cnn-train in JAX: pure functions with optax, NHWC, which was the faster layout on a CPU."""

from __future__ import annotations

import functools

import jax
import optax

from ...frameworks.jax import convolution
from ...frameworks.jax.adapter import functional_training
from ..lenet_train.jax import block
from . import OPTIMIZER


def logits(parameters, images, convolve=convolution.convolve):
    hidden = block(images, parameters["conv1_weight"], parameters["conv1_bias"], convolve)
    hidden = block(hidden, parameters["conv2_weight"], parameters["conv2_bias"], convolve)
    hidden = block(hidden, parameters["conv3_weight"], parameters["conv3_bias"], convolve)
    hidden = hidden.reshape(len(images), -1)
    hidden = jax.nn.relu(hidden @ parameters["dense1_weight"] + parameters["dense1_bias"])
    return hidden @ parameters["dense2_weight"] + parameters["dense2_bias"]


def loss(parameters, images, labels, convolve=convolution.convolve):
    return optax.softmax_cross_entropy_with_integer_labels(logits(parameters, images, convolve), labels).mean()


def build(size, parameters, batch, transform):
    convolved = functools.partial(loss, convolve=convolution.of_mode(transform.mode))
    return functional_training(convolved, parameters, transform, OPTIMIZER, layout="NHWC", outputs=logits)
