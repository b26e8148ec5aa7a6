"""Forms of chains of elementwise operations in PyTorch: in place, and in expressions, which a fuser needs."""

from __future__ import annotations

import torch

from bench.workloads.transcendental_chain import torch as transcendental

FUSES = "bench.workloads.elementwise_chain.torch:fuses_expressions"


class Expressions(transcendental.Chain):
    """The transcendental chain in expressions."""

    def forward(self, inputs):
        affine = inputs * self.scale + self.shift
        square = affine * affine
        return torch.tanh(affine) * torch.exp(-square) + torch.log(square + self.offset)


FORMS = {
    "in place": {FUSES: lambda mode, inputs: False},
    "expressions": {
        FUSES: lambda mode, inputs: True,
        "bench.workloads.transcendental_chain.torch:Chain": Expressions,
    },
}
