"""Implements resnet50-train in Flax: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.flax import build

__all__ = ["build"]
