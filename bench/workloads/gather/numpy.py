"""Implements gather in NumPy: take."""

from __future__ import annotations

from ...frameworks.numpy.adapter import inference


def gather(parameters, table, indices):
    # Indexing took 1.5 to 2.8 times as long.
    return {"rows": table.take(indices, axis=0)}


def build(size, parameters, batch, transform):
    return inference(gather, parameters, transform)
