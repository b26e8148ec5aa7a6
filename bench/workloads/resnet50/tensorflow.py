"""Implements resnet50 in TensorFlow: the network of resnet18 with bottlenecks."""

from ..resnet18.tensorflow import build

__all__ = ["build"]
