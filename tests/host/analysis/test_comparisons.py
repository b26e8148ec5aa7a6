"""Tests how the comparisons of one table are decided: together, and against the noise floor."""

from __future__ import annotations

from dataclasses import replace

from bench.host.analysis.comparisons import decide_together
from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import Ratio
from bench.host.statistics.verdict import Verdict


def ratio(value: float, p: float, width: float) -> Ratio:
    return Ratio(Estimate(value, None, None, 10), p, (value / width, value * width))


def verdicts(ratios: list[Ratio | None], floor: float = 0.0) -> list[Verdict | None]:
    return [found and found.verdict for found in decide_together(ratios, floor)]


def test_each_gets_its_verdict_and_what_has_no_pairs_gets_none():
    found = [ratio(1.1, 0.0001, 1.05), ratio(1.0, 0.9, 1.01), ratio(1.02, 0.03, 1.03), None]
    assert verdicts(found) == [Verdict.DIFFERENT, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE, None]


def test_the_comparisons_share_the_error():
    one, nothing = ratio(1.1, 0.004, 1.05), ratio(1.1, 1.0, 1.5)
    assert verdicts([one]) == [Verdict.DIFFERENT]
    assert verdicts([one, nothing, nothing])[0] is Verdict.INCONCLUSIVE
    assert verdicts([one, one, one]) == [Verdict.DIFFERENT] * 3
    assert [found.adjusted_p for found in decide_together([one, nothing], 0.0)] == [0.008, 1.0]


def test_what_is_not_called_different_does_not_help_others_to_be():
    """Of what is called different, few may be wrong; many small true differences must not let noisy cells pass."""
    noisy, small, clear = ratio(1.1, 0.004, 1.05), ratio(1.008, 1e-6, 1.005), ratio(1.1, 1e-6, 1.05)
    assert verdicts([noisy] + [clear] * 9)[0] is Verdict.DIFFERENT
    assert verdicts([noisy] + [small] * 9) == [Verdict.INCONCLUSIVE] + [Verdict.EQUIVALENT] * 9
    # Nor what lies below the noise floor.
    assert verdicts([ratio(1.3, 0.004, 1.05)] + [clear] * 9, floor=0.2)[0] is Verdict.INCONCLUSIVE


def test_what_is_withheld_has_no_finding_and_does_not_help_others_to_have_one():
    """Nine withheld cells made the first of four quiet ones different, and it had the only mark of the table."""
    quiet = [ratio(1.1, p, 1.05) for p in (0.004, 0.5, 0.5, 0.5)]
    clear, same = ratio(1.5, 1e-4, 1.05), ratio(1.0, 0.9, 1.01)
    assert verdicts(quiet + [clear] * 9)[0] is Verdict.DIFFERENT
    withheld = [replace(one, withheld=True) for one in [clear] * 9 + [same]]
    assert verdicts(quiet + withheld) == [Verdict.INCONCLUSIVE] * 14


def test_what_may_be_claimed_passes_the_stricter_correction():
    """Three of the same p value: the share of false ones is small, that any is false is not unlikely enough."""
    one = ratio(1.1, 0.004, 1.05)
    assert [found.claimed for found in decide_together([one, one, one], 0.0)] == [False] * 3
    assert [found.claim_p for found in decide_together([one, one, one], 0.0)] == [0.012] * 3
    assert [found.claimed for found in decide_together([one], 0.0)] == [True]
    assert [found.claimed for found in decide_together([ratio(1.0, 0.9, 1.01)], 0.0)] == [False]


def test_the_noise_floor_hides_what_lies_below_it():
    assert verdicts([ratio(1.1, 0.0001, 1.05)], floor=0.12) == [Verdict.INCONCLUSIVE]
    assert verdicts([ratio(1.0, 0.9, 1.05)], floor=0.06) == [Verdict.INCONCLUSIVE]
