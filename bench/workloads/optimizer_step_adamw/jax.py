"""Implements optimizer-step-adamw in JAX: optax, with its state donated."""

from __future__ import annotations

from ...frameworks.jax.adapter import functional_training
from . import OPTIMIZER


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    # In a traced function the names of a dictionary are sorted.
    names = list(parameters)

    def differentiate(parameters, kept, loss, *gradients):
        return (loss, kept), dict(zip(names, gradients))

    return functional_training(None, parameters, transform, optimizer, differentiate=differentiate)
