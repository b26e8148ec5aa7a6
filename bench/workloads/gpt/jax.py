"""Implements gpt in JAX: pure functions, those of transformer-train."""

from __future__ import annotations

from ...frameworks.jax.adapter import inference
from ..transformer_encoder.jax import ATTENTION
from ..transformer_train.jax import predict


def build(size, parameters, batch, transform):
    def logits(parameters, tokens):
        return {"logits": predict(size, parameters, tokens).reshape(*tokens.shape, size["vocabulary"])}

    return inference(logits, parameters, transform, attention=ATTENTION)
