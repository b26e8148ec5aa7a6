"""Implements branch-where in PyTorch: torch.where."""

from __future__ import annotations

import torch

from ..branch_if.torch import Layer, stacked


class Selection(Layer):
    def forward(self, hidden):
        upper, lower = torch.relu(torch.mm(hidden, self.upper)), torch.tanh(torch.mm(hidden, self.lower))
        return torch.where(torch.dot(hidden[0], self.probe) > 0, upper, lower)


def build(size, parameters, batch, transform):
    return stacked(Selection, size, parameters, transform)
