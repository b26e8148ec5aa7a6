"""Compares the gradients of a convolution in a loop with those of JAX, in float64; returns the largest differences."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from bench.frameworks.jax import convolution

#: The height of images, one less than their width, the side of kernels, the stride and the edge.
SHAPES = (
    (9, 5, 1, 0), (8, 3, 2, 1), (9, 3, 2, 1), (8, 1, 2, 0), (16, 7, 2, 3), (15, 7, 2, 3), (10, 2, 3, 0), (11, 2, 3, 2)
)  # fmt: skip


def slopes(convolve, images, weight, stride, edge):
    convolved, differentiate = jax.vjp(lambda *given: convolve(*given, stride, edge), images, weight)
    return differentiate(jnp.cos(jnp.arange(convolved.size)).reshape(convolved.shape))


def main(framework):
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    random = np.random.RandomState(0)
    found = []
    for height, side, stride, edge in SHAPES:
        images = jnp.asarray(random.standard_normal((2, height, height + 1, 3)))
        weight = jnp.asarray(random.standard_normal((side, side, 3, 4)))
        right = slopes(convolution.convolve, images, weight, stride, edge)
        written = slopes(convolution.convolve_in_loop, images, weight, stride, edge)
        found += [float(jnp.abs(one - other).max()) for one, other in zip(right, written, strict=True)]
    chosen = [convolution.of_mode(mode) is convolution.convolve_in_loop for mode in ("jit-loop", "jit", "eager")]
    return {"differences": found, "in a loop": chosen}
