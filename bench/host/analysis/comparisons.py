"""Compares two results by their pairs of processes, up to the last look that they have reached."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.record import OK, Record

from ..statistics import stopping
from ..statistics.bootstrap import Estimate
from ..statistics.location import FloatArray, median
from ..statistics.pairs import Ratio, pair_log_ratios, tail_log_ratios
from ..statistics.signed_rank import walsh_averages
from ..statistics.verdict import adjust_for_claims, adjust_for_discovery, decide, discovery_p
from ..storage.manifest import BUDGET, Manifest
from .quality import withheld
from .results import Comparison, Result

#: The keys of the pairs of two cells, and the log ratio of each.
Pairs = tuple[list[Hashable], FloatArray]


@dataclass(frozen=True)
class Reached:
    """How many of its looks a row has reached."""

    looks: tuple[int, ...]
    rounds: int
    #: Whether it ended for a reason other than its results, which adds a look.
    ended: bool

    @classmethod
    def of(cls, results: Iterable[Result], manifest: Manifest) -> Reached:
        """Find it from the records of a row's results and from the manifest."""
        found = list(results)
        stop = manifest.stopped.get(found[0].cell.row) if found else None
        rounds = 1 + max((record.round for result in found for record in result.records), default=-1)
        done = min(rounds, stop.rounds) if stop else rounds - _unfinished(found, rounds - 1, manifest.profile.samples)
        return cls(manifest.looks or (rounds,), done, stop is not None and stop.why == BUDGET)

    @classmethod
    def of_each(cls, results: Iterable[Result], manifest: Manifest) -> dict[str, Reached]:
        """Find it for each row of these results."""
        rows: dict[str, list[Result]] = {}
        for result in results:
            rows.setdefault(result.cell.row, []).append(result)
        return {row: cls.of(found, manifest) for row, found in rows.items()}

    def compare(
        self, cell: Result, other: Result, pairs: Pairs | None = None, shown: Estimate | None = None
    ) -> Ratio | None:
        """Compare two cells; None where no two processes took turns.

        ``pairs`` and their estimate ``shown`` are computed where they are not given.
        """
        keys, log_ratios = pairs or pair_log_ratios(cell.turns, other.turns)
        found = self.compare_pairs(keys, log_ratios, shown)
        if found is None:
            return None
        return replace(found, disturbed=_disturbed(keys, cell, other), withheld=_is_withheld(cell, other))

    def compare_pairs(
        self, keys: Sequence[Hashable], log_ratios: FloatArray, shown: Estimate | None = None
    ) -> Ratio | None:
        """Compare by the log ratio of each pair, whose key is (round, attempt); None without a pair."""
        data = rounds_of(keys), log_ratios, self.looks, self._rounds_of(keys)
        return stopping.sequential_ratio(*data, ended=self.ended, shown=shown)

    def compare_tails(self, cell: Result, other: Result) -> Ratio | None:
        """Compare their 90% quantiles; only the deciding interval is computed, since tables show that one."""
        keys, log_ratios = tail_log_ratios(cell.turns, other.turns)
        if not len(log_ratios):
            return None
        data = rounds_of(keys), log_ratios, self.looks, self._rounds_of(keys)
        p = stopping.sequential_p(*data, ended=self.ended)
        value = math.exp(median(walsh_averages(log_ratios)))
        deciding = stopping.sequential_interval(*data, ended=self.ended)
        shown = Estimate(value, None, None, len(log_ratios))
        disturbed, is_withheld = _disturbed(keys, cell, other), _is_withheld(cell, other)
        return Ratio(shown, 1.0 if p is None else p, deciding, disturbed, is_withheld)

    def _rounds_of(self, keys: Sequence[Hashable]) -> int:
        """Return after how many rounds a comparison was looked at last.

        A cell may have stopped at an earlier look than its row. A test at a later look would use the same pairs
        again, and spend error that was meant for new ones. A round that was interrupted is no look that was reached.
        """
        last = 1 + int(rounds_of(keys).max(initial=-1))
        return min(last, self.rounds) if last in self.looks else self.rounds


def _unfinished(results: Sequence[Result], number: int, turns: int | None) -> bool:
    """Tell whether a round was interrupted: a process that did not fail took fewer turns than planned."""
    return any(
        record.round == number and record.status == OK and 1 + max(record.sample_turn, default=-1) < (turns or 0)
        for result in results
        for record in _latest(result.records)
    )


def _latest(records: Iterable[Record]) -> Iterable[Record]:
    """Return the last attempt of each round."""
    return {record.round: record for record in sorted(records, key=lambda record: record.attempt)}.values()


def rounds_of(keys: Sequence[Hashable]) -> stopping.RoundArray:
    """Return the round of each pair; the key of a pair is (round, attempt)."""
    return np.array([key[0] for key in keys if isinstance(key, tuple)], dtype=np.int64)


def _disturbed(keys: Sequence[Hashable], *results: Result) -> float:
    """Return the share of the pairs in which a process was disturbed most of the time."""
    disturbed = {process.key for result in results for process in result.timed if process.disturbed}
    return sum(key in disturbed for key in keys) / len(keys)


def _is_withheld(*results: Result) -> bool:
    """Tell whether tables withhold a time of these."""
    return any(withheld(sum(one.disturbed for one in result.timed), len(result.timed)) for result in results)


def decide_together(ratios: Sequence[Ratio | None], floor: float) -> list[Comparison | None]:
    """Give the verdicts of one table: the p values of all of its comparisons are adjusted together.

    By Benjamini-Hochberg for the verdict, which screens the table, and by Holm for claims about a single comparison.
    """
    known = [ratio for ratio in ratios if ratio is not None]
    screened = adjust_for_discovery(np.array([discovery_p(ratio, floor=floor) for ratio in known]))
    claimed = adjust_for_claims(np.array([ratio.p for ratio in known]))
    adjusted = iter(zip(screened.tolist(), claimed.tolist(), strict=True))
    return [None if ratio is None else _decide(ratio, *next(adjusted), floor) for ratio in ratios]


def _decide(ratio: Ratio, adjusted_p: float, claim_p: float, floor: float) -> Comparison:
    verdict = decide(ratio, adjusted_p, floor=floor)
    return Comparison(ratio) if verdict is None else Comparison(ratio, adjusted_p, claim_p, verdict)
