"""Implements transformer-train in PyTorch: an nn.Module whose forward returns the loss, with its optimizer."""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from ..transformer_encoder.torch import Stack, named_parameters
from . import OPTIMIZER


class LanguageModel(nn.Module):
    """A causal language model whose logits are tied to its token embedding."""

    def __init__(self, size, parameters):
        super().__init__()
        self.token_embedding = nn.Parameter(parameters["token_embedding"].clone())
        self.position_embedding = nn.Parameter(parameters["position_embedding"].clone())
        self.stack = Stack(size, parameters, causal=True)

    def forward(self, tokens, targets):
        hidden = self.stack(functional.embedding(tokens, self.token_embedding) + self.position_embedding)
        logits = functional.linear(hidden, self.token_embedding)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def build(size, parameters, batch, transform):
    module = LanguageModel(size, parameters)

    def current():
        named = named_parameters(module.stack)
        named["token_embedding"] = module.token_embedding
        named["position_embedding"] = module.position_embedding
        return named

    return module_training(module, transform, OPTIMIZER, current)
