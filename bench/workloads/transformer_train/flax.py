"""Implements transformer-train in Flax: Embed around the stack of transformer-encoder."""

from __future__ import annotations

from flax import linen, nnx

from ...frameworks.flax.adapter import layer_type, training
from ..transformer_encoder.flax import ATTENTION, LinenStack, Stack, paths
from . import OPTIMIZER


def placed(hidden, positions):
    """Add the learned positions of all places, in the type of the others."""
    return hidden + positions.astype(hidden.dtype)


class LanguageModel(nnx.Module):
    def __init__(self, size, dtype, rngs):
        self.tokens = nnx.Embed(size["vocabulary"], size["width"], dtype=dtype, rngs=rngs)
        self.positions = nnx.Embed(size["sequence"], size["width"], dtype=dtype, rngs=rngs)
        self.stack = Stack(size, True, dtype, rngs)

    def __call__(self, tokens):
        hidden = placed(self.tokens(tokens), self.positions.embedding[...])
        return self.tokens.attend(self.stack(hidden))


class LinenLanguageModel(linen.Module):
    size: dict
    dtype: object

    @linen.compact
    def __call__(self, tokens):
        size = self.size
        embed = linen.Embed(size["vocabulary"], size["width"], dtype=self.dtype, name="tokens")
        positions = linen.Embed(size["sequence"], size["width"], dtype=self.dtype, name="positions")
        hidden = placed(embed(tokens), positions.embedding)
        return embed.attend(LinenStack(size, True, self.dtype, name="stack")(hidden))


def described(size, parameters, dtype=None):
    """Return the models and the paths of their parameters; see ``training``."""
    models = {"nnx": lambda rngs: LanguageModel(size, dtype, rngs), "linen": LinenLanguageModel(size, dtype)}
    named = paths([name for name in parameters if "." in name], ("stack",))
    named.update(token_embedding=("tokens", "embedding"), position_embedding=("positions", "embedding"))
    return models, named


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    network = described(size, parameters, layer_type(transform))
    return training(*network, parameters, transform, optimizer, attention=ATTENTION)
