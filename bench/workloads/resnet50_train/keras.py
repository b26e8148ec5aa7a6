"""Implements resnet50-train in Keras: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.keras import build

__all__ = ["build"]
