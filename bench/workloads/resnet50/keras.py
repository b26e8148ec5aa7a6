"""Implements resnet50 in Keras: the network of resnet18 with bottlenecks."""

from ..resnet18.keras import build

__all__ = ["build"]
