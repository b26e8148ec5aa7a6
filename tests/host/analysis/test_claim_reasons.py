"""Tests how much it takes to answer a claim, and the reason that is given where it is open."""

from __future__ import annotations

import math

import pytest
from claimed import answers, cell_of, claim, only, pair, record

from bench.host.analysis.claim_tests import Shortage, Why
from bench.host.analysis.claims import Answer
from bench.host.statistics.verdict import minimum_pairs


def test_eight_workloads_carry_an_answer_at_one_percent_and_seven_do_not():
    factors = [1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2]
    assert minimum_pairs() == 8
    assert only(pair(factors)).answer is Answer.SUPPORTED
    seven = only(pair(factors[:7]))
    assert (seven.answer, seven.why) == (Answer.OPEN, Why.FEW)
    assert only(pair([1 / factor for factor in factors])).answer is Answer.REFUTED


def test_eight_pairs_carry_an_answer_about_one_workload_and_three_do_not():
    assert only(pair([2.0], rounds=8)).answer is Answer.SUPPORTED
    assert only(pair([0.5], rounds=8)).answer is Answer.REFUTED
    few = only(pair([2.0], rounds=3))
    assert (few.answer, few.why) == (Answer.OPEN, Why.FEW)
    assert few.deciding is not None
    assert few.deciding.factor.value == pytest.approx(2.0)


def test_pairs_about_one_workload_do_not_answer_a_claim_about_all():
    found = only(pair([2.0], rounds=20), workloads=())
    assert (found.answer, found.why) == (Answer.OPEN, Why.PART)
    assert only(pair([1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2]), workloads=()).answer is Answer.SUPPORTED


def test_few_workloads_must_agree():
    found = only(pair([2.0, 2.0, 0.5], rounds=8))
    assert (found.answer, found.why) == (Answer.OPEN, Why.MIXED)
    assert found.versus[0].agreeing == 2


def test_a_few_workloads_that_are_far_better_do_not_carry_the_many_that_are_slightly_worse():
    """The signed-rank test alone would refute it, though the mean is above the limit as likely as below."""
    factors = [0.9, 0.89, 0.91, 0.88, 0.92, 0.87, 0.93, 0.9, 0.9, 0.91, 0.89, 0.9, 0.9, 3.5]
    found = only(pair(factors))
    assert (found.answer, found.why) == (Answer.OPEN, Why.CLOSE)


def test_a_clear_factor_with_too_few_pairs_for_its_look_is_not_too_close():
    """Eleven equal pairs give 2⁻¹⁰; the first of these looks may spend 0.3025 of 1 %, and six tests share it."""
    looks, six = (11, 15, 20), [claim(f"c{number}", factor="<1") for number in range(6)]
    found = answers(pair([1.11], rounds=11), *six, looks=looks)
    assert (found.tests, found.needed) == (6, 11)
    (versus,) = found.claims[0].versus
    assert (versus.answer, versus.why) == (Answer.OPEN, Why.FEW_PAIRS)
    assert versus.shortage == Shortage(pairs=11, look=15, rounds=11)
    assert {one.answer for one in answers(pair([1.11], rounds=15), *six, looks=looks).claims} == {Answer.REFUTED}
    assert {one.answer for one in answers(pair([1.11], rounds=11), *six).claims} == {Answer.REFUTED}


def test_a_factor_whose_interval_holds_the_limit_is_too_close_however_few_pairs_there_are():
    looks, six = (11, 15, 20), [claim(f"c{number}", factor="<1") for number in range(6)]
    around = [
        record(cell_of(column, "w"), number, time if number % 2 else 1 / time)
        for column, time in (("jax:jit", 1.0), ("torch2:compile", 1.1))
        for number in range(11)
    ]
    assert {one.why for one in answers(around, *six, looks=looks).claims} == {Why.CLOSE}


def test_enough_pairs_of_which_some_disagree_are_not_certain():
    """One of ten pairs, the fifth farthest from 1.02, is below: p = 20/1024, and the interval is above."""
    logs = [0.05, 0.1, 0.15, 0.2, -0.25, 0.3, 0.31, 0.32, 0.33, 0.34]
    times = [1.02 * math.exp(log) for log in logs]
    found = [record(cell_of("jax:jit", "w"), number, 1.0) for number in range(10)]
    found += [record(cell_of("torch2:compile", "w"), number, time) for number, time in enumerate(times)]
    (versus,) = only(found).versus
    assert versus.factor.low is not None
    assert versus.factor.low > 1.02
    assert (versus.answer, versus.why, versus.shortage) == (Answer.OPEN, Why.UNCERTAIN, None)


def test_workloads_whose_interval_excludes_the_limit_are_not_certain_where_one_disagrees():
    found = only(pair([1.3, 1.32, 1.34, 1.36, 1.38, 1.4, 1.42, 0.99]))
    assert found.deciding is not None
    assert found.deciding.factor.low is not None
    assert found.deciding.factor.low > 1.02
    assert (found.answer, found.why) == (Answer.OPEN, Why.UNCERTAIN)


def test_the_best_of_several_workloads_takes_more_pairs_and_says_how_many():
    (versus,) = only(pair([1.0, 1.1, 3.0], rounds=9), factor=">=1.78", up_to=True).versus
    assert (versus.why, versus.shortage) == (Why.FEW_PAIRS, Shortage(pairs=9, look=None, rounds=10))


def test_enough_workloads_with_few_pairs_leave_an_up_to_open_for_their_pairs():
    """Twelve workloads with one pair were told that an answer takes eight of either."""
    (versus,) = only(pair([1.0, 1.1, 3.0, *[1.2] * 9], rounds=2), factor=">=1.78", up_to=True).versus
    assert (versus.why, versus.shortage) == (Why.FEW, Shortage(pairs=2, look=None, rounds=12))
    (few,) = only(pair([1.0, 1.1, 3.0], rounds=2), factor=">=1.78", up_to=True).versus
    assert (few.why, few.shortage) == (Why.FEW, None)


def test_a_range_is_open_for_the_reason_of_the_end_that_the_factor_misses():
    looks, three = (11, 15, 20), [claim(f"c{number}", factor=">=4,<=5") for number in range(3)]
    (first, *_others) = answers(pair([1.33], rounds=11), *three, looks=looks).claims
    assert (first.why, first.versus[0].shortage) == (Why.FEW_PAIRS, Shortage(pairs=11, look=15, rounds=11))


def test_many_workloads_that_disagree_leave_a_claim_open():
    found = only(pair([4.0, 0.25] * 6))
    assert (found.answer, found.why) == (Answer.OPEN, Why.CLOSE)
