"""Tests how verdicts are marked behind a ratio."""

from __future__ import annotations

import pytest

from bench.host.analysis.results import Comparison
from bench.host.reporting.words.verdicts import mark
from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import Ratio
from bench.host.statistics.verdict import Verdict

RATIO = Ratio(Estimate(1.1, 1.0, 1.2, 10), 0.001, (1.0, 1.2))


@pytest.mark.parametrize(
    ("verdict", "claim_p", "text"),
    [
        (Verdict.DIFFERENT, 0.012, "*"),
        (Verdict.DIFFERENT, 0.004, "**"),
        (Verdict.EQUIVALENT, 0.004, "≈"),
        (Verdict.INCONCLUSIVE, 0.004, "?"),
        (None, None, ""),
    ],
)
def test_a_difference_that_may_be_claimed_gets_two_marks(verdict, claim_p, text):
    assert mark(Comparison(RATIO, claim_p, claim_p, verdict)) == text


def test_no_comparison_has_no_mark():
    assert mark(None) == ""
