"""Implements conjugate-gradient in PyTorch: a loop in Python; in place, or one compiled iteration."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference, kernel
from ...frameworks.torch.compiler import COMPILERS
from ...program import Transform


def framed(right):
    """Return residual, direction, solution and product, each with a frame of zeros."""
    residual = functional.pad(right, (1, 1, 1, 1))
    return residual, residual.clone(), torch.zeros_like(residual), torch.zeros_like(residual)


def advance(residual, direction, solution, product, energy, centre):
    """Do one iteration in place; return the energy of the residual."""
    inner = product[1:-1, 1:-1]
    torch.mul(direction[1:-1, 1:-1], centre, out=inner)
    inner.sub_(direction[:-2, 1:-1]).sub_(direction[2:, 1:-1])
    inner.sub_(direction[1:-1, :-2]).sub_(direction[1:-1, 2:])
    length = energy / torch.dot(direction.view(-1), product.view(-1))
    solution.addcmul_(direction, length)
    residual.addcmul_(product, -length)
    found = torch.dot(residual.view(-1), residual.view(-1))
    direction.mul_(found / energy).add_(residual)
    return found


class Solver(nn.Module):
    """All iterations, in place; every grid has a frame of zeros, so that scalar products take it as one vector."""

    def __init__(self, iterations, shift):
        super().__init__()
        self.iterations = iterations
        self.register_buffer("shift", shift)

    def forward(self, right):
        centre = 4 + self.shift
        residual, direction, solution, product = framed(right)
        energy = torch.dot(residual.view(-1), residual.view(-1))
        for _ in range(self.iterations):
            energy = advance(residual, direction, solution, product, energy, centre)
        return solution[1:-1, 1:-1].contiguous()


class Iteration(nn.Module):
    """One iteration; only the direction has a frame of zeros."""

    def __init__(self, shift):
        super().__init__()
        self.register_buffer("shift", shift)

    def forward(self, solution, residual, framed, energy):
        direction = framed[1:-1, 1:-1]
        neighbours = framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:]
        product = (4 + self.shift) * direction - neighbours
        length = energy / (direction * product).sum()
        solution += length * direction
        residual -= length * product
        found = (residual * residual).sum()
        framed[1:-1, 1:-1] = residual + found / energy * direction
        return found


def build(size, parameters, batch, transform):
    def repeated(function, **options):
        iterate = transform(function, **options)

        def solve(right):
            solution, residual, framed = torch.zeros_like(right), right.clone(), functional.pad(right, (1, 1, 1, 1))
            energy = (right * right).sum()
            for _ in range(size["iterations"]):
                energy = iterate(solution, residual, framed, energy)
            return solution

        return solve

    # A compiler would unroll the loop.
    if transform.mode.startswith(COMPILERS):
        return kernel(Iteration(parameters["shift"]), Transform(transform.mode, repeated), ("solution",))
    return inference(Solver(size["iterations"], parameters["shift"]), transform, ("solution",))
