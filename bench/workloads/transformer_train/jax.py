"""Implements transformer-train in JAX: pure functions with optax."""

from __future__ import annotations

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import functional_training
from ..transformer_encoder.jax import ATTENTION, forward
from . import OPTIMIZER


def predict(size, parameters, tokens):
    """Compute the logits (batch · sequence, vocabulary) of the next tokens."""
    table = parameters["token_embedding"]
    return forward(size, parameters, table[tokens] + parameters["position_embedding"], causal=True) @ table.T


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    score = losses.of_mode(transform.mode)

    def loss(parameters, tokens, targets):
        logits = predict(size, parameters, tokens)
        return score(logits, targets.reshape(-1))

    return functional_training(loss, parameters, transform, optimizer, attention=ATTENTION)
