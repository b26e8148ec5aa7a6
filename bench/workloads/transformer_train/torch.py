"""Implements transformer-train in PyTorch: an nn.Module whose forward returns the loss, with its optimizer."""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from ..transformer_encoder.torch import Stack, named_parameters
from . import OPTIMIZER


class Predictor(nn.Module):
    """A causal language model whose logits are tied to its token embedding; forward returns them."""

    def __init__(self, size, parameters):
        super().__init__()
        self.token_embedding = nn.Parameter(parameters["token_embedding"].clone())
        self.position_embedding = nn.Parameter(parameters["position_embedding"].clone())
        self.stack = Stack(size, parameters, causal=True)

    def forward(self, tokens):
        hidden = self.stack(functional.embedding(tokens, self.token_embedding) + self.position_embedding)
        return functional.linear(hidden, self.token_embedding)


class LanguageModel(nn.Module):
    """The model with its loss, so that it is compiled too."""

    def __init__(self, predictor):
        super().__init__()
        self.predictor = predictor

    def forward(self, tokens, targets):
        return functional.cross_entropy(self.predictor(tokens).flatten(0, 1), targets.flatten())


def model_parameters(predictor):
    """Return the parameters with the specification's names."""
    named = named_parameters(predictor.stack)
    named["token_embedding"] = predictor.token_embedding
    named["position_embedding"] = predictor.position_embedding
    return named


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    module = Predictor(size, parameters)
    return module_training(LanguageModel(module), transform, optimizer, lambda: model_parameters(module))
