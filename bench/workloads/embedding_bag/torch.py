"""Implements embedding-bag in PyTorch: functional.embedding_bag with offsets, which it would make in every call.

PyTorch/XLA has rows and their sum, which XLA joins: 0.6 of the time of its embedding_bag in size tiny. So does
torch.compile join them on a processor, if a bag has few words.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch import lazy
from ...frameworks.torch.adapter import kernel
from ...frameworks.torch.compiler import PRESETS

#: The longest sum that Inductor unrolls. With 8 words (tiny) embedding_bag took 1.5 times as long as this sum,
#: with 32 (small) a sixth.
UNROLLED = 8


class Bags(nn.Module):
    """A table whose rows are summed."""

    def __init__(self, table, offsets):
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.register_buffer("offsets", offsets)

    def forward(self, indices):
        return functional.embedding_bag(indices.view(-1), self.table, self.offsets, mode="sum")


def joins(mode, indices):
    """Tell whether a compiler makes one loop of rows and their sum that is faster than embedding_bag."""
    few = indices.device.type == "cpu" and indices.size(1) <= UNROLLED
    return mode in lazy.MODES or (mode in PRESETS and few)


def build(size, parameters, batch, transform):
    (indices,) = batch
    offsets = torch.arange(0, indices.numel(), indices.size(1), device=indices.device)
    module = Bags(parameters["table"], offsets)
    table = module.table

    def summed(indices):
        return functional.embedding_bag(indices.view(-1), table, offsets, mode="sum")

    def joined(indices):
        return functional.embedding(indices, table).sum(dim=1)

    return kernel(module, transform, ("sums",), joined if joins(transform.mode, indices) else summed)
