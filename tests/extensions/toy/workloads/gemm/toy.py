"""Implements gemm in Toy."""

from __future__ import annotations

from bench.frameworks.numpy.adapter import inference


def build(size, parameters, batch, transform):
    return inference(lambda parameters, left, right: {"product": left @ right}, parameters, transform)
