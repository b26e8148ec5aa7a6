"""Implements lstm-cell-lm-train in PyTorch: nn.LSTMCell in a loop of Python."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from . import OPTIMIZER


class LanguageModel(nn.Module):
    """Embedding, cells and dense layer; forward returns the loss, so that it is compiled too."""

    def __init__(self, size):
        super().__init__()
        width = size["width"]
        self.embedding = nn.Embedding(size["vocabulary"], width)
        self.cells = nn.ModuleList([nn.LSTMCell(width, width, bias=False) for _ in range(size["layers"])])
        self.dense = nn.Linear(width, size["vocabulary"])

    def forward(self, tokens, targets):
        steps = self.embedding(tokens.t()).unbind(0)
        for layer in self.cells:
            hidden = cell = torch.zeros_like(steps[0])
            states = []
            for inputs in steps:
                hidden, cell = layer(inputs, (hidden, cell))
                states.append(hidden)
            steps = states
        return functional.cross_entropy(self.dense(torch.cat(steps)), targets.t().flatten())


def named_parameters(module):
    """Return the parameters with the specification's names; PyTorch stores the weights transposed."""
    named = {"embedding": module.embedding.weight, "dense.weight": module.dense.weight.t()}
    named["dense.bias"] = module.dense.bias
    for index, cell in enumerate(module.cells):
        named["layer%d.input" % index] = cell.weight_ih.t()
        named["layer%d.state" % index] = cell.weight_hh.t()
    return named


def build(size, parameters, batch, transform):
    module = LanguageModel(size).to(batch[0].device)
    with torch.no_grad():
        for name, value in named_parameters(module).items():
            value.copy_(parameters[name])
    return module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
