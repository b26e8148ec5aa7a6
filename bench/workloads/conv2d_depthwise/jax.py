"""Implements conv2d-depthwise in JAX: lax.conv_general_dilated in NHWC, with a group for each channel."""

from __future__ import annotations

from ..conv2d import jax as conv2d


def build(size, parameters, batch, transform):
    weight = parameters["weight"][:, :, None]
    return conv2d.build(size, {"weight": weight}, batch, transform, groups=size["channels"])
