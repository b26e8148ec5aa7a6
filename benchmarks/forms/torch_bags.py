"""Forms of embedding-bag in PyTorch: its function, rows and their sum, and rows that are added one by one."""

from __future__ import annotations

import torch
from torch.nn import functional

from bench.frameworks.torch.adapter import kernel
from bench.workloads.embedding_bag.torch import Bags


def program(function):
    """Return ``build`` of a function of indices, table and offsets."""

    def build(size, parameters, batch, transform):
        (indices,) = batch
        offsets = torch.arange(0, indices.numel(), indices.size(1), device=indices.device)
        module = Bags(parameters["table"], offsets)
        table = module.table
        return kernel(module, transform, ("sums",), lambda indices: function(indices, table, offsets))

    return {"bench.workloads.embedding_bag.torch:build": build}


def added(indices, table, offsets):
    total = functional.embedding(indices[:, 0], table)
    for column in range(1, indices.size(1)):
        total = total + functional.embedding(indices[:, column], table)
    return total


FORMS = {
    "embedding_bag": program(
        lambda indices, table, offsets: functional.embedding_bag(indices.view(-1), table, offsets, mode="sum")
    ),
    "rows in bags": program(lambda indices, table, offsets: functional.embedding_bag(indices, table, mode="sum")),
    "sum": program(lambda indices, table, offsets: functional.embedding(indices, table).sum(dim=1)),
    "added": program(added),
    # torch.embedding_bag is not documented; torch.nn.functional calls it after checks in Python.
    "without checks": program(
        lambda indices, table, offsets: torch.embedding_bag(table, indices.view(-1), offsets, False, 0)[0]
    ),
}
