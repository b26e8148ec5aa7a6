"""Reads one value of each process that ended well: the time of its first call, its peak memory, or another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from bench.record import OK, Record

from . import consumption
from .results import Result

#: {(round, attempt): value}: processes with the same key ran in the same round.
Values = dict[Hashable, float]


def values_of(records: Iterable[Record], read: Callable[[Record], float | None]) -> Values:
    """Return what ``read`` gives of each process that ended well, where it is positive."""
    found = {(record.round, record.attempt): read(record) for record in records if record.status == OK}
    return {key: float(one) for key, one in found.items() if one is not None and one > 0}


def first_calls(result: Result, cache: str) -> Values:
    """Return the seconds of the first calls with a ``cold`` or ``warm`` cache."""
    own = (record for record in result.records if (record.first_call_cache or "cold") == cache)
    return values_of(own, lambda one: one.first_call_s)


def peaks(result: Result) -> Values:
    """Return the bytes whose median is ``Result.peak_bytes``."""
    name = result.peak_figure
    return values_of(consumption.counted(result.records, name), lambda one: one.memory[name])
