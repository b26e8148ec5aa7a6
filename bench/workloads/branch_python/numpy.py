"""Implements branch-python in NumPy, as branch-if does."""

from __future__ import annotations

from ..branch_if.numpy import build as build
