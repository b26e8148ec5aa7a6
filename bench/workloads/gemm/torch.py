"""Implements gemm in PyTorch: torch.mm."""

from __future__ import annotations

import torch

from ...frameworks.torch.adapter import inference


def multiply(left, right):
    return torch.mm(left, right)


def build(size, parameters, batch, transform):
    return inference(multiply, transform, ("product",))
