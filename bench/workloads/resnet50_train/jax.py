"""Implements resnet50-train in JAX: the network of resnet18-train with bottlenecks."""

from ..resnet18_train.jax import build

__all__ = ["build"]
