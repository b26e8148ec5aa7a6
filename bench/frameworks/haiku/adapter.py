"""Adapts Haiku, whose arrays, transformations and settings are JAX's."""

from __future__ import annotations

import haiku

from ..jax import adapter as of_jax
from .programs import inference, training

__all__ = ["Adapter", "inference", "training"]


class Adapter(of_jax.Adapter):
    """JAX on one device, with the version of Haiku."""

    mixes = False

    def versions(self):
        return dict(super().versions(), **{"dm-haiku": haiku.__version__})
