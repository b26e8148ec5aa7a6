"""Implements gpt in JAX: pure functions, those of transformer-train."""

from __future__ import annotations

from ...frameworks.jax.adapter import inference
from ..transformer_encoder.jax import form_of, of_mode
from ..transformer_train.jax import predict


def build(size, parameters, batch, transform):
    form = form_of(size, parameters, transform, causal=True)
    predict_of_mode = of_mode(predict, transform.mode, form)

    def logits(parameters, tokens):
        return {"logits": predict_of_mode(size, parameters, tokens).reshape(*tokens.shape, size["vocabulary"])}

    return inference(logits, parameters, transform, attention=form)
