"""Implements gpt in Keras: the model of transformer-train."""

from __future__ import annotations

from ...frameworks.keras.adapter import inference
from ..transformer_encoder.keras import attention_form
from ..transformer_train.keras import names, network


def build(size, parameters, batch, transform):
    return inference(network(size), parameters, transform, "logits", names(size), attention=attention_form())
