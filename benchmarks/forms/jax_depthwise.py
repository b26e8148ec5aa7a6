"""Forms of conv2d-depthwise in JAX: images that are padded before the loop that adds up products."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax


def padded_apart(parameters, images):
    weight = parameters["weight"]
    rows, columns = images.shape[1:3]
    framed = lax.optimization_barrier(jnp.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0))))
    terms = [
        framed[:, row : row + rows, column : column + columns] * weight[row, column]
        for row in range(3)
        for column in range(3)
    ]
    return {"convolved": sum(terms)}


FORMS = {"padded apart": {"bench.workloads.conv2d_depthwise.jax:convolve": padded_apart}}
