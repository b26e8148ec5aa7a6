"""Tells after how many rounds the rows of a run stopped, and why, and which cells stopped before their row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..statistics.verdict import Verdict
from ..storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Manifest, Stop
from .results import Result
from .retries import is_given_up

#: Why a row stops of which no two cells are compared: the baseline is not there.
NOTHING = "nothing to compare"
REASONS = (SETTLED, NOTHING, MOST_ROUNDS, BUDGET)
#: The verdicts that need no more rounds.
SETTLING = (Verdict.DIFFERENT, Verdict.EQUIVALENT)


@dataclass(frozen=True, order=True)
class StopGroup:
    """Rows that stopped after the same number of rounds, for the same reason."""

    #: The index in ``REASONS``, which gives the order.
    reason: int
    rounds: int
    rows: tuple[str, ...]

    @property
    def why(self) -> str:
        return REASONS[self.reason]


def group_stops(results: Sequence[Result], manifest: Manifest) -> list[StopGroup]:
    """Group the rows that stopped, by reason and number of rounds."""
    rows: dict[tuple[str, int], list[str]] = {}
    compared = {result.cell.row for result in results if result.comparison is not None}
    for row, stop in manifest.stopped.items():
        # What a row of a part was compared with may be hidden.
        nothing = row not in compared and not manifest.hidden_cells
        why = NOTHING if stop.why == SETTLED and nothing else stop.why
        rows.setdefault((why, stop.rounds), []).append(row)
    return sorted(
        StopGroup(REASONS.index(why), rounds, tuple(names)) for (why, rounds), names in rows.items() if why in REASONS
    )


def stop_of(result: Result, manifest: Manifest) -> Stop | None:
    """Return when a cell stopped: with its row, or settled at an earlier look; None where the row has no stop.

    It follows from the rounds, not from the verdict: what was settled then may be inconclusive now.
    """
    stop = manifest.stopped.get(result.cell.row)
    rounds = 1 + max((record.round for record in result.records), default=-1)
    if stop is None or rounds >= stop.rounds or rounds not in manifest.looks or is_given_up(result.records):
        return stop
    return Stop(rounds, SETTLED)


def stopped_before_their_rows(results: Sequence[Result], manifest: Manifest) -> int:
    """Count the cells that were settled at an earlier look than the last one of their row."""
    return sum(result.stop is not None and result.stop != manifest.stopped[result.cell.row] for result in results)


def reopened_rows(results: Sequence[Result], manifest: Manifest) -> list[str]:
    """Return the rows with a cell that stopped as settled, and whose verdict is inconclusive now."""
    settled = [result for result in results if result.stop is not None and result.stop.why == SETTLED]
    undecided = {result.cell.row for result in settled if result.verdict is Verdict.INCONCLUSIVE}
    return [row for row in manifest.stopped if row in undecided]
