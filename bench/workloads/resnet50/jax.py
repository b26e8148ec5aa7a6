"""Implements resnet50 in JAX: the network of resnet18 with bottlenecks."""

from ..resnet18.jax import build

__all__ = ["build"]
