"""Forms of stencil in torch.compile: one iteration in a call."""

from __future__ import annotations

import torch
from torch.nn import functional

from bench.frameworks.torch.adapter import kernel
from bench.program import Transform
from bench.workloads.stencil.torch import Sweep


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

    return kernel(Sweep(parameters["rate"]), Transform(transform.mode, repeated), ("grid",))


FORMS = {"one iteration": {"bench.workloads.stencil.torch:build": one_in_a_call}}
