"""Implements resnet18-train in JAX: pure functions with optax, in NHWC; the running statistics are an argument."""

from __future__ import annotations

import jax.numpy as jnp

from ...frameworks import halves
from ...frameworks.jax import convolution, losses, parallel
from ...frameworks.jax.adapter import functional_training
from .. import batch_norm
from ..resnet18.jax import forward, normal
from . import OPTIMIZER, initial_state


def build(size, parameters, batch, transform):
    score = losses.of_mode(transform.mode)
    devices = halves.DEVICES if transform.mode in parallel.MODES else 1

    def loss(parameters, kept, images, labels):
        new = {}

        def moved(name, value):
            new[name] = (1 - batch_norm.MOMENTUM) * kept[name] + batch_norm.MOMENTUM * value

        def normalise(name, images):
            # Statistics in float32 or wider, as flax has them.
            wide = images.astype(jnp.promote_types(images.dtype, jnp.float32))
            mean = wide.mean(axis=(0, 1, 2))
            variance = jnp.square(wide - mean).mean(axis=(0, 1, 2))
            if devices > 1:
                mean, variance = parallel.moments_of_all(mean, variance)
            count = devices * images.size // images.shape[-1]
            moved(name + ".mean", mean)
            moved(name + ".variance", count / (count - 1) * variance)
            normalised = normal(wide, mean, variance, parameters[name + ".scale"], parameters[name + ".shift"])
            return normalised.astype(images.dtype)

        logits = forward(size, parameters, images, normalise, convolution.of_mode(transform.mode))
        return score(logits, labels), new

    return functional_training(loss, parameters, transform, OPTIMIZER, layout="NHWC", kept=initial_state(size))
