"""Implements branch-python in PyTorch: an ``if`` that depends on data, at which torch.compile leaves its graph."""

from __future__ import annotations

from ...frameworks.torch import lazy
from ...program import Unsupported
from ..branch_if.torch import branch, stacked


def build(size, parameters, batch, transform):
    if transform.mode not in ("eager", lazy.XLA) and not transform.mode.startswith("compile"):
        raise Unsupported("an if of Python is for eager, xla and torch.compile: see branch-if")
    return stacked(branch(transform.mode), size, parameters, transform)
