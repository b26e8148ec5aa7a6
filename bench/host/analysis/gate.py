"""Judges a run for a script: whether a cell is slower than the baseline by more than a limit."""

from __future__ import annotations

from dataclasses import dataclass

from bench.record import UNSUPPORTED

from ..statistics.verdict import Verdict, settles_limit
from ..study.twin import is_twin
from .baselines import baselines_of
from .comparable_times import disturbed
from .results import EXCLUDED, Result
from .run_analysis import Analysis, is_judged

#: What nobody expects to be compared.
NOT_COMPARED = (UNSUPPORTED, EXCLUDED)


@dataclass(frozen=True)
class Judged:
    """What a gate found."""

    #: Slower than the baseline by more than the limit, by their verdicts.
    slower: tuple[Result, ...]
    #: Without a verdict that settles it: too few pairs, not different with an interval that reaches the limit, or times
    #: that others disturbed, which the tables withhold.
    open: tuple[Result, ...]
    #: Cells without a comparison, as they or their baseline failed, or the run ended before them.
    lost: tuple[Result, ...]
    #: The comparisons that there were.
    compared: int


@dataclass(frozen=True)
class Gate:
    """A limit on slowdowns: 0.05 for ``slower:5%``."""

    slower: float

    def judge(self, analysis: Analysis, baseline: str | None = None) -> Judged:
        """Judge every comparison of the table, and every cell that would have been compared with ``baseline``.

        A cell is too slow where its verdict is *different* and its estimate beyond the limit. A comparison is settled
        the other way where its deciding interval ends below the limit, or its verdict is *different*; all others are
        open, since a lack of evidence is no pass.
        """
        bases = baselines_of(analysis.results, baseline)
        compared = [result for result in analysis.results if is_judged(result)]
        slower, unsettled = [], []
        for result in compared:
            if not _is_shown(result, bases.get(result.cell)):
                unsettled.append(result)
            elif self._is_slower(result):
                slower.append(result)
            elif self._is_open(result):
                unsettled.append(result)
        known = {result.cell for result in compared}
        lost = (one for one in analysis.results if one.cell not in known and _is_lost(one, bases.get(one.cell)))
        return Judged(tuple(slower), tuple(unsettled), tuple(lost), len(compared))

    def _is_slower(self, result: Result) -> bool:
        assert result.ratio is not None
        return result.verdict is Verdict.DIFFERENT and result.ratio.estimate.value > 1.0 + self.slower

    def _is_open(self, result: Result) -> bool:
        assert result.ratio is not None
        return not settles_limit(result.ratio, result.verdict, self.slower)


def _is_shown(result: Result, base: Result | None) -> bool:
    """Tell whether tables show a comparison: a number that they withhold must not decide either."""
    return not disturbed(result) and (base is None or not disturbed(base))


def _is_lost(result: Result, base: Result | None) -> bool:
    """Tell whether a cell should have been compared with its baseline: both were planned, and neither was refused."""
    if base is None or is_twin(result.cell):
        return False
    return not any(one.refused or one.status in NOT_COMPARED for one in (result, base))
