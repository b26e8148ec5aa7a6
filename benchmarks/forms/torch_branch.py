"""Forms of branches in PyTorch: by a tensor or by a number, and with activations in place."""

from __future__ import annotations

import torch

from bench.workloads.branch_if import torch as present
from bench.workloads.branch_where import torch as where


class InPlace(present.Layer):
    """A branch by a number whose activations are in place."""

    def forward(self, hidden):
        if torch.dot(hidden[0], self.probe).item() > 0:
            return torch.mm(hidden, self.upper).relu_()
        return torch.mm(hidden, self.lower).tanh_()


class SelectionInPlace(where.Selection):
    def forward(self, hidden):
        upper, lower = torch.mm(hidden, self.upper).relu_(), torch.mm(hidden, self.lower).tanh_()
        return torch.where(torch.dot(hidden[0], self.probe) > 0, upper, lower)


LAYERS = "bench.workloads.branch_if.torch:"
FORMS = {
    "tensor": {LAYERS + "Branch": present.Breaking},
    "number": {LAYERS + "Breaking": present.Branch},
    "in place": {LAYERS + "Branch": InPlace, "bench.workloads.branch_where.torch:Selection": SelectionInPlace},
}
