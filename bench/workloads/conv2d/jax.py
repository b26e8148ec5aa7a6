"""Implements conv2d in JAX: lax.conv_general_dilated in NHWC."""

from __future__ import annotations

from jax import lax

from ...frameworks.jax.adapter import inference


def build(size, parameters, batch, transform, groups=1, layout="NHWC"):
    def convolve(parameters, images):
        weight = parameters["weight"]
        edges = [(weight.shape[0] // 2,) * 2] * 2
        return {
            "convolved": lax.conv_general_dilated(
                images, weight, (1, 1), edges, dimension_numbers=(layout, "HWIO", layout), feature_group_count=groups
            )
        }

    return inference(convolve, parameters, transform, layout=layout)
