"""Forms of convolutions in JAX, for all modes: whose gradients they have, and patches with one product."""

from __future__ import annotations

import jax.numpy as jnp

from bench.frameworks.jax import convolution


def of_patches(images, weight, stride, edge):
    """Convolve by one product of patches, for a stride of 1."""
    height, width = weight.shape[:2]
    images = jnp.pad(images, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    rows, columns = images.shape[1] - height + 1, images.shape[2] - width + 1
    shifted = [images[:, i : i + rows, j : j + columns] for i in range(height) for j in range(width)]
    return jnp.concatenate(shifted, axis=3) @ weight.reshape(-1, weight.shape[3])


OF_MODE = "bench.frameworks.jax.convolution:of_mode"
FORMS = {
    "JAX's gradients": {OF_MODE: lambda mode: convolution.convolve},
    "our gradients": {OF_MODE: lambda mode: convolution.convolve_in_loop},
    "patches": {OF_MODE: lambda mode: of_patches},
}
