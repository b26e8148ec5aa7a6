"""Implements conjugate-gradient-unrolled in PyTorch: blocks that TorchScript or torch.compile unrolls, in a loop."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference, kernel
from ..conjugate_gradient.torch import advance, begin, inner_points
from ..grid import unrolled
from ..stencil_unrolled.torch import SCRIPTS, verify_graph


class Scripted(nn.Module):
    """All iterations in place: TorchScript keeps a loop over a range and unrolls one over a tuple."""

    def __init__(self, turns, each, shift):
        super().__init__()
        self.turns = turns
        self.block = tuple(range(each))
        self.register_buffer("shift", shift)

    def forward(self, right):
        centre = 4 + self.shift
        vectors, inner, parts = begin(right)
        energy = torch.dot(vectors[1], vectors[1])
        for _ in range(self.turns):
            for _ in self.block:
                energy = advance(vectors, inner, parts, energy, centre)
        return inner_points(vectors[0], right)


class Block(nn.Module):
    """The iterations of a turn, with new grids: in place, compiled, they took more than twice as long."""

    def __init__(self, each, shift):
        super().__init__()
        self.each = each
        self.register_buffer("shift", shift)

    def forward(self, solution, residual, direction, energy):
        for _ in range(self.each):
            edged = functional.pad(direction, (1, 1, 1, 1))
            neighbours = edged[:-2, 1:-1] + edged[2:, 1:-1] + edged[1:-1, :-2] + edged[1:-1, 2:]
            product = (4 + self.shift) * direction - neighbours
            length = energy / (direction * product).sum()
            solution = solution + length * direction
            residual = residual - length * product
            found = (residual * residual).sum()
            direction = residual + found / energy * direction
            energy = found
        return solution, residual, direction, energy


def build(size, parameters, batch, transform):
    verify_graph(transform.mode, "conjugate-gradient")
    each = unrolled(size["iterations"])
    turns = size["iterations"] // each
    if transform.mode in SCRIPTS:
        return inference(Scripted(turns, each, parameters["shift"]), transform, ("solution",))

    def repeated(function, **options):
        block = transform(function, **options)

        def solve(right):
            state = (torch.zeros_like(right), right, right, (right * right).sum())
            for _ in range(turns):
                state = block(*state)
            return state[0]

        return solve

    return kernel(Block(each, parameters["shift"]), transform.calling(repeated), ("solution",))
