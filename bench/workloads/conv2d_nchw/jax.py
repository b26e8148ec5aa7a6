"""Implements conv2d-nchw in JAX: lax.conv_general_dilated in NCHW."""

from __future__ import annotations

from ..conv2d import jax as conv2d


def build(size, parameters, batch, transform):
    return conv2d.build(size, parameters, batch, transform, layout="NCHW")
