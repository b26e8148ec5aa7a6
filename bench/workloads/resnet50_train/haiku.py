"""Implements resnet50-train in Haiku: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.haiku import build

__all__ = ["build"]
