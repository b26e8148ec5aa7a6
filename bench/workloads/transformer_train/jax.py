"""Implements transformer-train in JAX: pure functions with optax."""

from __future__ import annotations

import optax

from ...frameworks.jax.adapter import functional_training
from ..transformer_encoder.jax import ATTENTION, forward
from . import OPTIMIZER


def predict(size, parameters, tokens):
    """Compute the logits (batch · sequence, vocabulary) of the next tokens."""
    table = parameters["token_embedding"]
    return forward(size, parameters, table[tokens] + parameters["position_embedding"], causal=True) @ table.T


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    def loss(parameters, tokens, targets):
        logits = predict(size, parameters, tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets.reshape(-1)).mean()

    return functional_training(loss, parameters, transform, optimizer, attention=ATTENTION)
