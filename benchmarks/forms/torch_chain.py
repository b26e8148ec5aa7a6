"""Forms of chains of elementwise operations in PyTorch: in place, and in expressions, which a fuser needs.

And, for torch.compile, with Inductor's option that computes tanh by exp.
"""

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
    "tanh by exp": {"TORCHINDUCTOR_CPP_USE_DECOMPOSE_TANH": "1"},
}
