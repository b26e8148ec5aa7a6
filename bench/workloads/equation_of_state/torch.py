"""Implements equation-of-state in PyTorch: the formula with the functions of torch, traced for TorchScript."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch.adapter import kernel
from ..ocean import Operations
from . import enthalpy_slope

OPERATIONS = Operations(
    torch.sqrt, torch.log1p, torch.tanh, torch.abs, torch.clamp_min, torch.clamp_max, torch.where, torch.cat,
    torch.stack,
)  # fmt: skip


class Formula(nn.Module):
    """A formula of ``Operations``, which returns its outputs in a tuple."""

    def __init__(self, formula):
        super().__init__()
        self.formula = formula

    def forward(self, *batch):
        return tuple(self.formula(OPERATIONS, *batch).values())


def evaluated(formula, batch, transform, names):
    """Make the program of a formula of a batch; TorchScript traces it, since it has no branches."""
    module = Formula(formula)
    if transform.mode in ("torchscript", "torchscript-optimized"):
        with torch.no_grad():
            module = torch.jit.trace(module, batch)
    return kernel(module, transform, names)


def build(size, parameters, batch, transform):
    return evaluated(enthalpy_slope, batch, transform, ("slope",))
