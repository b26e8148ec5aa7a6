"""Implements scatter-add in PyTorch: index_add_ on zeros."""

from __future__ import annotations

from torch import nn

from ...frameworks.torch.adapter import kernel


class Sums(nn.Module):
    """Adds rows to the sums of their groups."""

    def __init__(self, groups, width):
        super().__init__()
        self.groups, self.width = groups, width

    def forward(self, rows, groups):
        return rows.new_zeros((self.groups, self.width)).index_add_(0, groups, rows)


def build(size, parameters, batch, transform):
    count, width = size["groups"], size["width"]

    def summed(rows, groups):
        return rows.new_zeros(count, width).index_add_(0, groups, rows)

    return kernel(Sums(count, width), transform, ("sums",), summed)
