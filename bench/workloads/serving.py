"""Holds the presets of what a server computes: one request, and a few requests at once."""

from __future__ import annotations

BATCHES = {"single": 1, "batch4": 4, "batch16": 16}


def serving_sizes(size):
    """Return {preset: size} with these batches."""
    return {name: dict(size, batch=count) for name, count in BATCHES.items()}
