"""Judges a run for a script: whether a cell is slower than the baseline by more than a limit."""

from __future__ import annotations

from dataclasses import dataclass

from ..statistics.verdict import Verdict
from .results import NOT_RUN, Result
from .run_analysis import Analysis, is_judged


@dataclass(frozen=True)
class Judged:
    """What a gate found."""

    #: Slower than the baseline by more than the limit, by their verdicts.
    slower: tuple[Result, ...]
    #: Without a verdict that settles it: too few pairs, or inconclusive with an interval that reaches the limit. And
    #: cells that the run ended before, such as when its budget was spent.
    open: tuple[Result, ...]
    #: The comparisons that there were.
    compared: int


@dataclass(frozen=True)
class Gate:
    """A limit on slowdowns: 0.05 for ``slower:5%``."""

    slower: float

    def judge(self, analysis: Analysis, baseline: str | None = None) -> Judged:
        """Judge every comparison of the table, and every cell that would have been compared with ``baseline``.

        A cell is too slow where its verdict is *different* and its estimate beyond the limit. A comparison is settled
        the other way where its deciding interval ends below the limit, or its verdict says what it is; all others are
        open, since a lack of evidence is no pass.
        """
        compared = [result for result in analysis.results if is_judged(result)]
        slower = tuple(result for result in compared if self._is_slower(result))
        undecided = tuple(result for result in compared if result not in slower and self._is_open(result))
        missing = (one for one in analysis.results if one.status == NOT_RUN and one.cell.column != baseline)
        return Judged(slower, (*undecided, *missing), len(compared))

    def _is_slower(self, result: Result) -> bool:
        assert result.ratio is not None
        return result.verdict is Verdict.DIFFERENT and result.ratio.estimate.value > 1.0 + self.slower

    def _is_open(self, result: Result) -> bool:
        assert result.ratio is not None
        if result.verdict in (Verdict.DIFFERENT, Verdict.EQUIVALENT):
            return False
        deciding = result.ratio.deciding
        return result.verdict is None or deciding is None or deciding[1] > 1.0 + self.slower
