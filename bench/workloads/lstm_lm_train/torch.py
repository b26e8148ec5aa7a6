"""Implements lstm-lm-train in PyTorch: nn.LSTM."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from . import OPTIMIZER


class LanguageModel(nn.Module):
    """Embedding, LSTM and dense layer; forward returns the loss, so that it is compiled too."""

    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(size["vocabulary"], size["width"])
        self.lstm = nn.LSTM(size["width"], size["width"], size["layers"], bias=False, batch_first=True)
        self.dense = nn.Linear(size["width"], size["vocabulary"])

    def forward(self, tokens, targets):
        hidden, _ = self.lstm(self.embedding(tokens))
        return functional.cross_entropy(self.dense(hidden).flatten(0, 1), targets.flatten())


def named_parameters(module):
    """Return the parameters with the specification's names; PyTorch stores the weights transposed."""
    named = {"embedding": module.embedding.weight, "dense.weight": module.dense.weight.t()}
    named["dense.bias"] = module.dense.bias
    for index in range(module.lstm.num_layers):
        named["layer%d.input" % index] = getattr(module.lstm, "weight_ih_l%d" % index).t()
        named["layer%d.state" % index] = getattr(module.lstm, "weight_hh_l%d" % index).t()
    return named


def made(size, parameters):
    """Return the model with these parameters."""
    module = LanguageModel(size).to(parameters["dense.bias"].device)
    with torch.no_grad():
        for name, value in named_parameters(module).items():
            value.copy_(parameters[name])
    return module


def build(size, parameters, batch, transform):
    module = made(size, parameters)
    return module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
