"""Implements gather in TensorFlow Lite: the function of TensorFlow, converted."""

from __future__ import annotations

from .tensorflow import build

__all__ = ["build"]
