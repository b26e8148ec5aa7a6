"""Implements transformer-train in Haiku: hk.Embed around the stack of transformer-encoder."""

from __future__ import annotations

import functools

import haiku as hk

from ...frameworks.haiku.adapter import training
from ...frameworks.haiku.programs import KINDS
from ..transformer_encoder.haiku import ATTENTION, stack
from ..transformer_encoder.haiku import paths as stack_paths
from . import OPTIMIZER


def predict(size, tokens):
    """Compute the logits of the next tokens."""
    embed = hk.Embed(size["vocabulary"], size["width"], name="tokens")
    positions = hk.Embed(size["sequence"], size["width"], name="positions")
    hidden = stack(size, embed(tokens) + positions.embeddings, causal=True)
    return hidden @ embed.embeddings.T


def paths(names):
    """Return the paths of the model's parameters."""
    found = stack_paths([name for name in names if "." in name])
    found.update((kind + "_embedding", (kind + "s", KINDS["embedding"])) for kind in ("token", "position"))
    return found


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    model = functools.partial(predict, size)
    return training(model, paths(parameters), parameters, transform, optimizer, attention=ATTENTION)
