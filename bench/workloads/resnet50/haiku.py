"""Implements resnet50 in Haiku: the network of resnet18 with bottlenecks."""

from ..resnet18.haiku import build

__all__ = ["build"]
