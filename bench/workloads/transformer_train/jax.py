"""Implements transformer-train in JAX: pure functions with optax."""

from __future__ import annotations

import optax

from ...frameworks.jax.adapter import functional_training
from ..transformer_encoder.jax import ATTENTION, forward
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    def loss(parameters, tokens, targets):
        table = parameters["token_embedding"]
        hidden = forward(size, parameters, table[tokens] + parameters["position_embedding"], causal=True)
        return optax.softmax_cross_entropy_with_integer_labels(hidden @ table.T, targets).mean()

    return functional_training(loss, parameters, transform, OPTIMIZER, attention=ATTENTION)
