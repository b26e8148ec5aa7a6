"""Implements resnet50-train in Lightning: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.lightning import build

__all__ = ["build"]
