"""Implements resnet50 in PyTorch: the network of resnet18 with bottlenecks."""

from ..resnet18.torch import build

__all__ = ["build"]
