"""Knows how many turns were disturbed, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench.record import Record

from .noise_watch import doubtful_turns, left_out

#: Row, threads, round, attempt.
Sitting = tuple[str, int, int, int]


@dataclass(frozen=True)
class Disturbances:
    """Turns of a set of processes; those who took a turn together count once."""

    turns: int = 0
    disturbed: int = 0
    #: Disturbed turns that the statistics do without; the others stayed, as too few would have remained.
    left_out: int = 0
    #: Turns after the last planned one, which repeat disturbed ones.
    repeated: int = 0
    #: What disturbed the first of them.
    example: str = ""

    @property
    def kept(self) -> int:
        return self.disturbed - self.left_out


def sitting_of(record: Record) -> Sitting:
    return record.cell.row, record.cell.threads, record.round, record.attempt


def count_doubtful(records: Iterable[Record]) -> int:
    """Count the turns that may have been disturbed, but count as undisturbed; see ``noise_watch.doubtful_turns``."""
    sittings: dict[Sitting, list[Record]] = {}
    for record in records:
        sittings.setdefault(sitting_of(record), []).append(record)
    return sum(len(doubtful_turns(together)) for together in sittings.values())


def count_turns(records: Iterable[Record], planned: int | None) -> Disturbances:
    """Count the turns of ``records``, of which every process was to take ``planned``."""
    taken: dict[Sitting, set[int]] = {}
    skipped: dict[Sitting, set[int]] = {}
    reasons: dict[tuple[Sitting, int], str] = {}
    for record in records:
        sitting = sitting_of(record)
        taken.setdefault(sitting, set()).update(record.sample_turn)
        if record.disturbed:
            own = {int(turn): reason for turn, reason in record.disturbed.items()}
            reasons.update({(sitting, turn): own[turn] for turn in sorted(own.keys() & set(record.sample_turn))})
            skipped.setdefault(sitting, set()).update(left_out(record))
    repeated = 0 if planned is None else sum(turn >= planned for turns in taken.values() for turn in turns)
    return Disturbances(
        sum(map(len, taken.values())),
        len(reasons),
        sum(map(len, skipped.values())),
        repeated,
        next(iter(reasons.values()), ""),
    )
