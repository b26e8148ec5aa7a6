"""Implements transformer-train in Haiku: hk.Embed around the stack of transformer-encoder."""

from __future__ import annotations

import haiku as hk

from ...frameworks.haiku.adapter import training
from ...frameworks.haiku.programs import KINDS
from ..transformer_encoder.haiku import ATTENTION, paths, stack
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    def predict(tokens):
        embed = hk.Embed(size["vocabulary"], size["width"], name="tokens")
        positions = hk.Embed(size["sequence"], size["width"], name="positions")
        hidden = stack(size, embed(tokens) + positions.embeddings, causal=True)
        return hidden @ embed.embeddings.T

    named = paths([name for name in parameters if "." in name])
    named.update((kind + "_embedding", (kind + "s", KINDS["embedding"])) for kind in ("token", "position"))
    return training(predict, named, parameters, transform, OPTIMIZER, attention=ATTENTION)
