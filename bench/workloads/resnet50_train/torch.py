"""Implements resnet50-train in PyTorch: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.torch import build

__all__ = ["build"]
