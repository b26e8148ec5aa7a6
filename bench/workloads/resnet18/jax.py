"""Implements resnet18 in JAX: pure functions, in NHWC, which resnet18-train uses too."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax import convolution
from ...frameworks.jax.adapter import inference
from .. import batch_norm, resnet


def features(size, images, apply):
    """Map images to the means of the last channels; ``apply(layer, images)`` convolves and normalises."""
    hidden = jax.nn.relu(apply(resnet.stem(size), images))
    if resnet.stem(size).stride == 2:
        edges = ((0, 0), (1, 1), (1, 1), (0, 0))
        hidden = lax.reduce_window(hidden, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), edges)
    for branch, shortcut in resnet.blocks(size):
        kept = hidden if shortcut is None else apply(shortcut, hidden)
        for layer in branch[:-1]:
            hidden = jax.nn.relu(apply(layer, hidden))
        hidden = jax.nn.relu(apply(branch[-1], hidden) + kept)
    return hidden.mean(axis=(1, 2))


def forward(size, parameters, images, normalise, convolve=convolution.convolve):
    """Compute the logits; ``normalise(name, images)`` is the batch normalisation of a convolution."""

    def apply(layer, images):
        weight = parameters[layer.name + ".weight"]
        return normalise(layer.name, convolve(images, weight, layer.stride, weight.shape[0] // 2))

    return features(size, images, apply) @ parameters["dense.weight"] + parameters["dense.bias"]


def normal(images, mean, variance, scale, shift):
    """Normalise each channel, by one factor and one sum, as flax does."""
    return (images - mean) * (lax.rsqrt(variance + batch_norm.EPSILON) * scale) + shift


def build(size, parameters, batch, transform):
    def classify(parameters, images):
        def normalise(name, images):
            return normal(images, *(parameters[name + "." + part] for part in resnet.NORM))

        return {"logits": forward(size, parameters, images, normalise)}

    return inference(classify, parameters, transform, layout="NHWC")
