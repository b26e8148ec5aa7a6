"""Forms of grids in PyTorch: slices in every iteration, numbers in place of tensors, iterations in a compiled call."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from bench.frameworks.torch.adapter import kernel
from bench.program import Transform
from bench.workloads.conjugate_gradient import torch as gradient
from bench.workloads.stencil import torch as stencil


def one_in_a_call(size, parameters, batch, transform):
    def repeated(function, **options):
        sweep = transform(function, **options)

        def diffuse(grid):
            old = functional.pad(grid, (1, 1, 1, 1))
            new = torch.zeros_like(old)
            for _ in range(size["iterations"]):
                sweep(old, new)
                old, new = new, old
            return old[1:-1, 1:-1].contiguous()

        return diffuse

    return kernel(stencil.Sweep(parameters["rate"]), Transform(transform.mode, repeated), ("grid",))


class SlicingSweeps(stencil.Sweeps):
    """Slices both grids in every iteration."""

    def forward(self, grid):
        keep = 1 - 4 * self.rate
        old = functional.pad(grid, (1, 1, 1, 1))
        new = torch.zeros_like(old)
        for _ in range(self.iterations):
            inner = new[1:-1, 1:-1]
            torch.add(old[:-2, 1:-1], old[2:, 1:-1], out=inner)
            inner.add_(old[1:-1, :-2]).add_(old[1:-1, 2:]).mul_(self.rate).addcmul_(old[1:-1, 1:-1], keep)
            old, new = new, old
        return old[1:-1, 1:-1].contiguous()


class SlicingSolver(gradient.Solver):
    """Slices grids in every iteration, which reads and writes the grids more often, too."""

    def forward(self, right):
        centre = 4 + self.shift
        residual = functional.pad(right, (1, 1, 1, 1))
        direction, solution, product = residual.clone(), torch.zeros_like(residual), torch.zeros_like(residual)
        energy = torch.dot(residual.view(-1), residual.view(-1))
        for _ in range(self.iterations):
            inner = product[1:-1, 1:-1]
            torch.mul(direction[1:-1, 1:-1], centre, out=inner)
            inner.sub_(direction[:-2, 1:-1]).sub_(direction[2:, 1:-1])
            inner.sub_(direction[1:-1, :-2]).sub_(direction[1:-1, 2:])
            length = energy / torch.dot(direction.view(-1), product.view(-1))
            solution.addcmul_(direction, length)
            residual.addcmul_(product, -length)
            found = torch.dot(residual.view(-1), residual.view(-1))
            direction.mul_(found / energy).add_(residual)
            energy = found
        return solution[1:-1, 1:-1].contiguous()


class NumberedSolver(gradient.Solver):
    """Takes scalar products as numbers of Python, for which a GPU would wait."""

    def forward(self, right):
        centre = 4 + float(self.shift.item())
        vectors, inner, parts = gradient.begin(right)
        solution, residual, direction, product = vectors
        middle, above, below, before, after = parts
        energy = float(torch.dot(residual, residual).item())
        for _ in range(self.iterations):
            torch.add(above, below, out=inner)
            inner.add_(before).add_(after).sub_(middle, alpha=centre)
            length = energy / float(torch.dot(direction, product).item())
            solution.sub_(direction, alpha=length)
            residual.sub_(product, alpha=length)
            found = float(torch.dot(residual, residual).item())
            torch.add(residual, direction, alpha=found / energy, out=direction)
            energy = found
        return gradient.inner_points(solution, right)


class TwoIterations(gradient.Iteration):
    def forward(self, solution, residual, framed, energy):
        energy = super().forward(solution, residual, framed, energy)
        return super().forward(solution, residual, framed, energy)


class PaddingIteration(nn.Module):
    """Pads the direction in every iteration."""

    def __init__(self, shift):
        super().__init__()
        self.register_buffer("shift", shift)

    def forward(self, solution, residual, direction, energy):
        framed = functional.pad(direction, (1, 1, 1, 1))
        neighbours = framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:]
        product = (4 + self.shift) * direction - neighbours
        length = energy / (direction * product).sum()
        solution += length * direction
        residual -= length * product
        found = (residual * residual).sum()
        direction.copy_(residual + found / energy * direction)
        return found


def calls(kind, each, frame):
    """Return ``build`` of a solver that calls a compiled module of ``each`` iterations."""

    def build(size, parameters, batch, transform):
        def repeated(function, **options):
            iterate = transform(function, **options)

            def solve(right):
                solution, residual, direction = torch.zeros_like(right), right.clone(), functional.pad(right, frame)
                energy = (right * right).sum()
                for _ in range(size["iterations"] // each):
                    energy = iterate(solution, residual, direction, energy)
                return solution

            return solve

        return kernel(kind(parameters["shift"]), Transform(transform.mode, repeated), ("solution",))

    return build


STENCIL, GRADIENT = "bench.workloads.stencil.torch:", "bench.workloads.conjugate_gradient.torch:"
FORMS = {
    # For modes without torch.compile.
    "slices": {STENCIL + "Sweeps": SlicingSweeps, GRADIENT + "Solver": SlicingSolver},
    "numbers": {GRADIENT + "Solver": NumberedSolver},
    # For torch.compile.
    "one iteration": {STENCIL + "build": one_in_a_call},
    "two iterations": {GRADIENT + "build": calls(TwoIterations, 2, (1, 1, 1, 1))},
    "padded": {GRADIENT + "build": calls(PaddingIteration, 1, (0, 0, 0, 0))},
}
