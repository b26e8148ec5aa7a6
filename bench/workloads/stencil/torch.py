"""Implements stencil in PyTorch: a loop in Python; in place by views of two grids, or two compiled iterations."""

from __future__ import annotations

from typing import List

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference, kernel
from ...frameworks.torch.compiler import COMPILERS


def views(framed):
    """Return the inner points of a grid with a frame, and their neighbours above, below, before and after."""
    return [framed[1:-1, 1:-1], framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:]]


def write(old: List[torch.Tensor], new: List[torch.Tensor], rate, keep):
    """Do one iteration from the views of one grid into those of another, in place."""
    torch.add(old[1], old[2], out=new[0])
    new[0].add_(old[3]).add_(old[4]).mul_(rate).addcmul_(old[0], keep)


class Sweeps(nn.Module):
    """All iterations, on two grids with a frame of zeros that are written in turn, by views that are made once."""

    def __init__(self, iterations, rate):
        super().__init__()
        self.iterations = iterations
        self.register_buffer("rate", rate)

    def forward(self, grid):
        keep = 1 - 4 * self.rate
        framed = functional.pad(grid, (1, 1, 1, 1))
        old, new = views(framed), views(torch.zeros_like(framed))
        for _ in range(self.iterations):
            write(old, new, self.rate, keep)
            old, new = new, old
        return old[0].contiguous()


class Sweep(nn.Module):
    """One iteration, from one grid into the other."""

    def __init__(self, rate):
        super().__init__()
        self.register_buffer("rate", rate)

    def forward(self, old, new):
        neighbours = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
        new[1:-1, 1:-1] = (1 - 4 * self.rate) * old[1:-1, 1:-1] + self.rate * neighbours


class ThereAndBack(Sweep):
    """Two iterations, so that the grids need not be exchanged; JAX has two in a turn of its loop, too."""

    def forward(self, old, new):
        super().forward(old, new)
        super().forward(new, old)


def build(size, parameters, batch, transform):
    def repeated(function, **options):
        turn = transform(function, **options)

        def diffuse(grid):
            old = functional.pad(grid, (1, 1, 1, 1))
            new = torch.zeros_like(old)
            for _ in range(size["iterations"] // 2):
                turn(old, new)
            return old[1:-1, 1:-1].contiguous()

        return diffuse

    # A compiler would unroll the loop.
    if transform.mode.startswith(COMPILERS):
        assert size["iterations"] % 2 == 0, "a call has two iterations"
        return kernel(ThereAndBack(parameters["rate"]), transform.calling(repeated), ("grid",))
    return inference(Sweeps(size["iterations"], parameters["rate"]), transform, ("grid",))
