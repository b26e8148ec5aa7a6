"""Implements gpt in Flax: the model of transformer-train without its loss."""

from __future__ import annotations

from ...frameworks.flax.adapter import inference
from ..transformer_train.flax import ATTENTION, described


def build(size, parameters, batch, transform):
    return inference(*described(size, parameters), parameters, transform, "logits", attention=ATTENTION)
