"""Adapts Haiku, whose arrays, transformations and settings are JAX's."""

from __future__ import annotations

import haiku
import jax.numpy as jnp
import jmp

from .. import precisions
from ..jax import adapter as of_jax
from .programs import inference, training

__all__ = ["Adapter", "inference", "training"]


class Adapter(of_jax.Adapter):
    """JAX on one device, with the version of Haiku."""

    def __init__(self, mode, device, precision, threads):
        super().__init__(mode, device, precision, threads)
        if precision == precisions.MIXED:
            # As Haiku's example of ResNet has it: statistics in bfloat16 are too short.
            policy = jmp.Policy(jnp.float32, compute_dtype=jnp.float32, output_dtype=jnp.bfloat16)
            for normalisation in (haiku.BatchNorm, haiku.LayerNorm):
                haiku.mixed_precision.set_policy(normalisation, policy)

    def versions(self):
        return dict(super().versions(), **{"dm-haiku": haiku.__version__})
