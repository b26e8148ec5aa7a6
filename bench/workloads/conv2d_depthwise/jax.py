"""Implements conv2d-depthwise in JAX: nine shifted products on a processor, else a convolution with a group a channel."""

from __future__ import annotations

import jax.numpy as jnp

from ...frameworks.jax.adapter import inference
from ...frameworks.jax.compiler import compiles_for_processor
from ..conv2d import jax as conv2d


def build(size, parameters, batch, transform):
    if compiles_for_processor(transform.mode):
        return inference(convolve, parameters, transform, layout="NHWC")
    weight = parameters["weight"][:, :, None]
    return conv2d.build(size, {"weight": weight}, batch, transform, groups=size["channels"])


def convolve(parameters, images):
    """Add up nine shifted products, which XLA makes one loop of.

    Its grouped convolution took 16 to 30 times as long in size small on a processor (54 and 2.7 ms), 14 in medium.
    """
    weight = parameters["weight"]
    height, width = weight.shape[:2]
    rows, columns = images.shape[1:3]
    # A sum in bfloat16 would be rounded nine times, and took 2.3 times as long.
    wide = jnp.promote_types(images.dtype, jnp.float32)
    framed = jnp.pad(images, ((0, 0), (height // 2,) * 2, (width // 2,) * 2, (0, 0)))
    terms = [
        framed[:, row : row + rows, column : column + columns].astype(wide) * weight[row, column].astype(wide)
        for row in range(height)
        for column in range(width)
    ]
    return {"convolved": sum(terms).astype(images.dtype)}
