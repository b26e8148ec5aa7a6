"""Adapts Flax, whose arrays, transformations and settings are JAX's: its modes are ways to write a model."""

from __future__ import annotations

import flax

from ..jax import adapter as of_jax
from .programs import KINDS, inference, layer_type, training

__all__ = ["KINDS", "Adapter", "inference", "layer_type", "training"]


class Adapter(of_jax.Adapter):
    """JAX on one device; every mode of Flax compiles a step."""

    def __init__(self, mode, device, precision, threads):
        super().__init__("jit", device, precision, threads)

    def versions(self):
        return dict(super().versions(), flax=flax.__version__)
