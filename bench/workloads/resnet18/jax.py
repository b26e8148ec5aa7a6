"""Implements resnet18 in JAX: pure functions, in NHWC, which resnet18-train uses too."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax.adapter import inference
from .. import batch_norm, resnet


def convolve(images, weight, stride):
    edge = weight.shape[0] // 2
    return lax.conv_general_dilated(
        images, weight, (stride, stride), [(edge, edge)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def forward(size, parameters, images, normalise):
    """Compute the logits; ``normalise(name, images)`` is the batch normalisation of a convolution."""

    def apply(layer, hidden):
        return normalise(layer.name, convolve(hidden, parameters[layer.name + ".weight"], layer.stride))

    hidden = jax.nn.relu(apply(resnet.stem(size), images))
    if resnet.stem(size).stride == 2:
        edges = ((0, 0), (1, 1), (1, 1), (0, 0))
        hidden = lax.reduce_window(hidden, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), edges)
    for branch, shortcut in resnet.blocks(size):
        kept = hidden if shortcut is None else apply(shortcut, hidden)
        for layer in branch[:-1]:
            hidden = jax.nn.relu(apply(layer, hidden))
        hidden = jax.nn.relu(apply(branch[-1], hidden) + kept)
    return hidden.mean(axis=(1, 2)) @ parameters["dense.weight"] + parameters["dense.bias"]


def normal(images, mean, variance, scale, shift):
    """Normalise each channel, by one factor and one sum, as flax does."""
    return (images - mean) * (lax.rsqrt(variance + batch_norm.EPSILON) * scale) + shift


def build(size, parameters, batch, transform):
    def classify(parameters, images):
        def normalise(name, images):
            return normal(images, *(parameters[name + "." + part] for part in resnet.NORM))

        return {"logits": forward(size, parameters, images, normalise)}

    return inference(classify, parameters, transform, layout="NHWC")
