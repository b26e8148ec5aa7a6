"""Implements scatter-add in PyTorch: index_add_ on zeros; in PyTorch 1 scatter_add_ for narrow rows."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch.adapter import kernel

FIRST = torch.__version__.startswith("1.")
#: PyTorch 1's index_add_ takes as long for every row, its scatter_add_ for every element: with 16 columns (tiny)
#: scatter_add_ took 0.64 of the time of index_add_, with 32 (small) 1.15.
NARROW = 24


class Sums(nn.Module):
    """Adds rows to the sums of their groups."""

    def __init__(self, groups, width):
        super().__init__()
        self.groups, self.width = groups, width

    def forward(self, rows, groups):
        return rows.new_zeros((self.groups, self.width)).index_add_(0, groups, rows)


class Scattered(Sums):
    """The same, by an index for each element."""

    def forward(self, rows, groups):
        sums = rows.new_zeros((self.groups, self.width))
        return sums.scatter_add_(0, groups.view(-1, 1).expand_as(rows), rows)


def build(size, parameters, batch, transform):
    count, width = size["groups"], size["width"]

    def summed(rows, groups):
        return rows.new_zeros(count, width).index_add_(0, groups, rows)

    def scattered(rows, groups):
        return rows.new_zeros(count, width).scatter_add_(0, groups.view(-1, 1).expand_as(rows), rows)

    made = (Scattered, scattered) if FIRST and width < NARROW else (Sums, summed)
    return kernel(made[0](count, width), transform, ("sums",), made[1])
