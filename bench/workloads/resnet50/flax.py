"""Implements resnet50 in Flax: the network of resnet18 with bottlenecks."""

from ..resnet18.flax import build

__all__ = ["build"]
