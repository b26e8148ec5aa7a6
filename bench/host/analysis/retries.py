"""Decides whether a cell that failed gets another round."""

from __future__ import annotations

from collections.abc import Iterable

from bench.record import FAILED, OK, OUT_OF_MEMORY, TIMEOUT, Record

#: A crash, a timeout or a lack of memory may have causes outside the cell: it gets this many rounds to recover.
FAILURES_BEFORE_GIVING_UP = 2
#: Statuses that another round can change; mismatch and unsupported are facts about the cell.
RETRIED = (FAILED, TIMEOUT, OUT_OF_MEMORY)


def is_given_up(records: Iterable[Record]) -> bool:
    """Tell whether a cell gets no further round, given its records: one would change nothing, or failed too often."""
    bad = [record.status for record in records if record.status != OK]
    return any(status not in RETRIED for status in bad) or len(bad) >= FAILURES_BEFORE_GIVING_UP
