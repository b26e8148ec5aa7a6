"""Forms of convolutions in JAX: products of rows of pixels with banded matrices."""

from __future__ import annotations

import jax.numpy as jnp


def of_bands(images, weight, stride, edge):
    """Convolve, with a stride of 1, by products of rows of pixels and matrices that hold the kernel once per column."""
    images = jnp.pad(images, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    count, height, width, channels = images.shape
    rows, columns = height - weight.shape[0] + 1, width - weight.shape[1] + 1
    places = jnp.arange(columns)[:, None] + jnp.arange(weight.shape[1])
    chosen = (jnp.arange(width)[:, None, None] == places).astype(weight.dtype)
    bands = jnp.einsum("xyj,ijco->ixcyo", chosen, weight).reshape(weight.shape[0], width * channels, -1)
    lines = images.reshape(count, height, -1)
    found = sum(lines[:, row : row + rows].reshape(-1, width * channels) @ band for row, band in enumerate(bands))
    return found.reshape(count, rows, columns, -1)


FORMS = {"bands": {"bench.frameworks.jax.convolution:of_mode": lambda mode: of_bands}}
