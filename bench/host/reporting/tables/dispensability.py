"""Orders the columns of speed-ups by what a reader misses least where there is no room for all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..words.labels import version_order
from .speedup_values import SpeedUps

Strength = tuple[bool, int, float]


def dispensability(found: SpeedUps) -> dict[str, int]:
    """Return how dispensable each column is: the highest number goes first, and the first column, with 0, never.

    The best column of every version of a framework outlasts its other modes, the slowest of which goes first. Of those
    best ones, those of older versions go first, and then the slowest.
    """
    first, *others = found.columns
    strengths = {column: _strength(found, column) for column in found.columns}
    versions: dict[tuple[str, str], list[str]] = {}
    for column in found.columns:
        label = found.labels[column]
        versions.setdefault((label.product, label.version), []).append(column)
    best = {max(columns, key=lambda column: strengths[column]) for columns in versions.values()}
    newest: dict[str, tuple[int, ...]] = {}
    for column in found.columns:
        label = found.labels[column]
        newest[label.product] = max(newest.get(label.product, ()), version_order(label))

    def interest(column: str) -> tuple[object, ...]:
        label = found.labels[column]
        version = version_order(label)
        # Of the versions of one framework each is older than the next.
        age = version if found.product else (version == newest[label.product],)
        return (column in best, age, strengths[column])

    kept_longest = sorted(others, key=interest, reverse=True)
    return {first: 0} | {column: number for number, column in enumerate(kept_longest, start=1)}


def best_of_versions(found: SpeedUps, columns: Sequence[str]) -> list[str]:
    """Return the one of ``columns`` of each version of a framework that a reader misses most, in their order."""
    order = dispensability(found)
    best: dict[tuple[str, str], str] = {}
    for column in sorted(columns, key=order.__getitem__):
        label = found.labels[column]
        best.setdefault((label.product, label.version), column)
    return [column for column in columns if column in best.values()]


def _strength(found: SpeedUps, column: str) -> Strength:
    """Return how fast a column is on average; one that has few rows, and so no mean, is weaker than all others."""
    values = [
        cell.speed_up.value
        for row in found.rows
        if (cell := row.cells.get(column)) is not None and cell.speed_up is not None
    ]
    mean = math.exp(math.fsum(map(math.log, values)) / len(values)) if values else 0.0
    return (column in found.means, 0 if column in found.means else len(values), found.means.get(column, mean))
