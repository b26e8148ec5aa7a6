"""Implements mlp-train in PyTorch: an nn.Module with its optimizer."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from . import OPTIMIZER


class Perceptron(nn.Module):
    """A stack of linear layers with ReLU between them; forward returns the loss, so that it is compiled too."""

    def __init__(self, parameters):
        super().__init__()
        count = len(parameters) // 2
        stack = []
        for index in range(count):
            rows, columns = parameters["weight%d" % index].shape
            linear = nn.Linear(rows, columns)
            with torch.no_grad():
                linear.weight.copy_(parameters["weight%d" % index].t())
                linear.bias.copy_(parameters["bias%d" % index])
            stack += [linear, nn.ReLU()]
        self.stack = nn.Sequential(*stack[:-1])

    def forward(self, inputs, labels):
        return functional.cross_entropy(self.stack(inputs), labels)


def named_parameters(module):
    """Return the parameters with the specification's names; nn.Linear stores its weight transposed."""
    linears = [layer for layer in module.stack if isinstance(layer, nn.Linear)]
    named = {}
    for index, linear in enumerate(linears):
        named["weight%d" % index] = linear.weight.t()
        named["bias%d" % index] = linear.bias
    return named


def build(size, parameters, batch, transform):
    module = Perceptron(parameters).to(batch[0].device)
    return module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
