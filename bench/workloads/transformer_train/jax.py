"""Implements transformer-train in JAX: pure functions with optax."""

from __future__ import annotations

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import functional_training
from ..transformer_encoder.jax import ATTENTION, form_of, forward, layer_norm, of_mode
from . import OPTIMIZER


def predict(size, parameters, tokens, normalise=layer_norm, form=ATTENTION):
    """Compute the logits (batch · sequence, vocabulary) of the next tokens."""
    table = parameters["token_embedding"]
    hidden = table[tokens] + parameters["position_embedding"]
    return forward(size, parameters, hidden, causal=True, normalise=normalise, form=form) @ table.T


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    form = form_of(size, parameters, transform, causal=True, training=True)
    score, predict_of_mode = losses.of_mode(transform.mode), of_mode(predict, transform.mode, form)

    def loss(parameters, tokens, targets):
        logits = predict_of_mode(size, parameters, tokens)
        return score(logits, targets.reshape(-1))

    return functional_training(loss, parameters, transform, optimizer, attention=form)
