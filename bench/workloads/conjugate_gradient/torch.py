"""Implements conjugate-gradient in PyTorch: a loop in Python; in place, or one compiled iteration."""

from __future__ import annotations

from typing import List

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference, kernel
from ...frameworks.torch.compiler import COMPILERS
from ..stencil.torch import views


def begin(right):
    """Return solution, residual, direction and product with frames of zeros, as vectors, and views of the last two.

    These are the inner points of the product, and those of the direction with their neighbours.
    """
    residual = functional.pad(right, (1, 1, 1, 1))
    direction, product = residual.clone(), torch.zeros_like(residual)
    vectors = [torch.zeros_like(residual).view(-1), residual.view(-1), direction.view(-1), product.view(-1)]
    return vectors, product[1:-1, 1:-1], views(direction)


def advance(vectors: List[torch.Tensor], inner, parts: List[torch.Tensor], energy, centre):
    """Do one iteration in place; return the energy of the residual. The product is that with the negative matrix."""
    solution, residual, direction, product = vectors
    middle, above, below, before, after = parts
    torch.add(above, below, out=inner)
    inner.add_(before).add_(after).addcmul_(middle, centre, value=-1)
    length = energy / torch.dot(direction, product)
    solution.addcmul_(direction, length, value=-1)
    residual.addcmul_(product, length, value=-1)
    found = torch.dot(residual, residual)
    torch.addcmul(residual, direction, found / energy, out=direction)
    return found


def inner_points(vector, right):
    """Return the inner points of a framed grid."""
    return vector.view(right.size(0) + 2, right.size(1) + 2)[1:-1, 1:-1].contiguous()


class Solver(nn.Module):
    """All iterations, in place, by views that are made once."""

    def __init__(self, iterations, shift):
        super().__init__()
        self.iterations = iterations
        self.register_buffer("shift", shift)

    def forward(self, right):
        centre = 4 + self.shift
        vectors, inner, parts = begin(right)
        energy = torch.dot(vectors[1], vectors[1])
        for _ in range(self.iterations):
            energy = advance(vectors, inner, parts, energy, centre)
        return inner_points(vectors[0], right)


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
        return kernel(Iteration(parameters["shift"]), transform.calling(repeated), ("solution",))
    return inference(Solver(size["iterations"], parameters["shift"]), transform, ("solution",))
