"""Implements resnet50-train in TensorFlow: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.tensorflow import build

__all__ = ["build"]
