"""Implements stencil-unrolled in PyTorch: blocks that TorchScript or torch.compile unrolls, in a loop around them."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference, kernel
from ...frameworks.torch.compiler import COMPILERS
from ...program import Unsupported
from ..grid import unrolled
from ..stencil.torch import Sweep, views, write

#: Modes of TorchScript that compile code and keep its loops; a trace has none.
SCRIPTS = ("torchscript", "torchscript-optimized")


class Scripted(nn.Module):
    """All iterations in place, as in stencil: TorchScript keeps a loop over a range and unrolls one over a tuple."""

    def __init__(self, turns, each, rate):
        super().__init__()
        self.turns = turns
        self.block = tuple(range(each))
        self.register_buffer("rate", rate)

    def forward(self, grid):
        keep = 1 - 4 * self.rate
        framed = functional.pad(grid, (1, 1, 1, 1))
        old, new = views(framed), views(torch.zeros_like(framed))
        for _ in range(self.turns):
            for _ in self.block:
                write(old, new, self.rate, keep)
                old, new = new, old
        return old[0].contiguous()


class Block(Sweep):
    """The iterations of a turn, on two grids; with a padded grid for each iteration they took twice as long."""

    def __init__(self, each, rate):
        super().__init__(rate)
        self.each = each

    def forward(self, old, new):
        for _ in range(self.each):
            super().forward(old, new)
            old, new = new, old


def verify_graph(mode, sibling):
    """Raise Unsupported for a mode in which no loop is part of a graph."""
    if mode not in SCRIPTS and not mode.startswith(COMPILERS):
        raise Unsupported("mode {0} runs the loop of {1} in Python: see {1}".format(mode, sibling))


def build(size, parameters, batch, transform):
    verify_graph(transform.mode, "stencil")
    each = unrolled(size["iterations"])
    turns = size["iterations"] // each
    if transform.mode in SCRIPTS:
        return inference(Scripted(turns, each, parameters["rate"]), transform, ("grid",))

    def repeated(function, **options):
        block = transform(function, **options)

        def diffuse(grid):
            old = functional.pad(grid, (1, 1, 1, 1))
            new = torch.zeros_like(old)
            for _ in range(turns):
                block(old, new)
                if each % 2:
                    old, new = new, old
            return old[1:-1, 1:-1].contiguous()

        return diffuse

    return kernel(Block(each, parameters["rate"]), transform.calling(repeated), ("grid",))
