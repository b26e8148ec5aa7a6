"""Implements branch-if in PyTorch: an ``if`` of Python, or torch.cond for compilers; branch-where has torch.where."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch import lazy
from ...frameworks.torch.adapter import inference
from ...frameworks.torch.compiler import COMPILERS
from ...program import Unsupported


class Layer(nn.Module):
    """The probe of a layer and the weights of its branches."""

    def __init__(self, probe, upper, lower):
        super().__init__()
        self.register_buffer("probe", probe)
        self.register_buffer("upper", upper)
        self.register_buffer("lower", lower)


class Branch(Layer):
    """A branch by a number, which is compared without a kernel."""

    def forward(self, hidden):
        if torch.dot(hidden[0], self.probe).item() > 0:
            return torch.relu(torch.mm(hidden, self.upper))
        return torch.tanh(torch.mm(hidden, self.lower))


class Breaking(Layer):
    """The same by a tensor: torch.compile, which leaves its graph here, is slower by a number."""

    def forward(self, hidden):
        if torch.dot(hidden[0], self.probe) > 0:
            return torch.relu(torch.mm(hidden, self.upper))
        return torch.tanh(torch.mm(hidden, self.lower))


class Traced(Layer):
    """A branch inside of a graph: an ``if`` that depends on data breaks it."""

    def forward(self, hidden):
        return torch.cond(
            torch.dot(hidden[0], self.probe) > 0,
            lambda hidden: torch.relu(torch.mm(hidden, self.upper)),
            lambda hidden: torch.tanh(torch.mm(hidden, self.lower)),
            (hidden,),
        )


def branch(mode):
    """Return the layer with an ``if`` for a mode."""
    return Breaking if mode.startswith(COMPILERS) or mode in lazy.MODES else Branch


def stacked(kind, size, parameters, transform):
    """Make the program of a stack of layers of one kind."""
    if transform.mode == "autocast":
        raise Unsupported("in bfloat16 a layer may be chosen that float64 does not choose; use eager")
    layers = [
        kind(*(parameters["%s%d" % (name, index)] for name in ("probe", "upper", "lower")))
        for index in range(size["layers"])
    ]
    return inference(nn.Sequential(*layers), transform, ("output",))


def build(size, parameters, batch, transform):
    if transform.mode == "torchscript-trace":
        raise Unsupported("a trace holds only the branches that one batch took: see torchscript")
    # PyTorch/XLA leaves torch.cond to PyTorch, which traces it anew in every step: 70 times as long as an if.
    compiles = transform.mode.startswith(COMPILERS) and hasattr(torch, "cond") and transform.mode not in lazy.MODES
    return stacked(Traced if compiles else branch(transform.mode), size, parameters, transform)
