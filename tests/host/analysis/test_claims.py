"""Tests what the results of a run say of claims: the factor, the answer, and what it rests on, with exact numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.analysis.claim_tests import Shortage, Why
from bench.host.analysis.claims import Answer, AnsweredClaim, AnsweredClaims, answer
from bench.host.analysis.run_analysis import analyse
from bench.host.statistics.verdict import minimum_pairs
from bench.host.storage.manifest import Manifest
from bench.host.study.claim import Claim
from bench.record import FAILED, OK, Record

FRAMEWORKS = {"torch1": "torch", "torch2": "torch", "tf2": "tensorflow", "jax": "jax"}
STEP_NS = 1_000_000
#: {column: {workload: seconds of a step, in milliseconds}}
Times = Mapping[str, Mapping[str, float]]


def cell_of(column: str, workload: str, size: str = "small") -> Cell:
    environment, mode = column.split(":")
    return Cell(environment, FRAMEWORKS[environment], mode, workload, size, "float32", "cpu", 1)


def record(cell: Cell, number: int, time: float, **values: Any) -> Record:
    """Make a process that takes exactly ``time`` milliseconds per step."""
    sample = round(time * STEP_NS)
    made = Record(cell, number, 1, OK, sample_steps=[1] * 6, sample_ns=[sample] * 6, sample_turn=[0, 0, 1, 1, 2, 2])
    return replace(made, sample_cpu_ns=[sample] * 6, **values)


def records(times: Times, rounds: int) -> list[Record]:
    return [
        record(cell_of(column, workload), number, time)
        for column, own in times.items()
        for workload, time in own.items()
        for number in range(rounds)
    ]


def answers(found: Sequence[Record], *claims: Claim, looks: tuple[int, ...] = ()) -> AnsweredClaims:
    planned = tuple(dict.fromkeys(one.cell for one in found))
    looks = looks or (1 + max(one.round for one in found),)
    manifest = Manifest(planned=planned, looks=looks)
    baseline = replace(manifest, study=replace(manifest.study, baseline=planned[0].column))
    return answer(claims, analyse(found, baseline), baseline)


def only(found: Sequence[Record], **values: Any) -> AnsweredClaim:
    (one,) = answers(found, claim(**values)).claims
    return one


def claim(name: str = "c", **values: Any) -> Claim:
    given = {
        "says": "x",
        "columns": ("jax:jit",),
        "against": ("torch2:compile",),
        "workloads": ("*",),
        "factor": ">1",
        **values,
    }
    return Claim(name=name, **given)


def pair(factors: Sequence[float], rounds: int = 3) -> list[Record]:
    """Measure two columns on so many workloads, of which the first is better by these factors."""
    workloads = {f"w{number}": factor for number, factor in enumerate(factors)}
    return records({"jax:jit": dict.fromkeys(workloads, 1.0), "torch2:compile": workloads}, rounds)


def test_the_factor_is_the_geometric_mean_over_the_workloads_that_both_have():
    found = only([*pair([2.0, 4.0, 8.0]), *records({"jax:jit": {"more": 5.0}}, 3)])
    (versus,) = found.versus
    assert (versus.column, versus.against) == ("jax:jit", "torch2:compile")
    assert versus.factor.value == pytest.approx(4.0)
    # Student's interval of three workloads: t(0.975, 2) = 4.3027, and the logarithms deviate by log(2).
    assert versus.factor.high == pytest.approx(4.0 * math.exp(4.302653 * math.log(2) / math.sqrt(3)), rel=1e-5)
    assert (versus.factor.n, versus.agreeing, versus.pairs) == (3, 3, 3)
    # That of two workloads, t = 12.706, would say nothing.
    assert only(pair([2.0, 8.0])).versus[0].factor.low is None


def test_sizes_of_a_workload_are_no_workloads_of_their_own():
    times = {"jax:jit": 1.0, "torch2:compile": 2.0}
    large = [record(cell_of(c, "w0", "large"), n, 4.0 * t * t) for c, t in times.items() for n in range(3)]
    (versus,) = only([*pair([2.0, 1.0]), *large]).versus
    assert versus.factor.n == 2
    # sqrt(2 · 4) for w0 and 1 for w1.
    assert versus.factor.value == pytest.approx(8.0**0.25)
    assert len(versus.rows) == 3


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


def test_a_range_is_open_for_the_reason_of_the_end_that_the_factor_misses():
    looks, three = (11, 15, 20), [claim(f"c{number}", factor=">=4,<=5") for number in range(3)]
    (first, *_others) = answers(pair([1.33], rounds=11), *three, looks=looks).claims
    assert (first.why, first.versus[0].shortage) == (Why.FEW_PAIRS, Shortage(pairs=11, look=15, rounds=11))


def test_many_workloads_that_disagree_leave_a_claim_open():
    found = only(pair([4.0, 0.25] * 6))
    assert (found.answer, found.why) == (Answer.OPEN, Why.CLOSE)


@pytest.mark.parametrize(
    ("factor", "measured", "said"),
    [
        (">1", 1.01, Answer.REFUTED),  # a difference below 2 % has no meaning
        (">1", 1.03, Answer.SUPPORTED),
        (">=1", 0.99, Answer.SUPPORTED),
        (">=1", 0.97, Answer.REFUTED),
        ("<1", 0.99, Answer.REFUTED),
        ("<1", 0.97, Answer.SUPPORTED),
        ("<=1", 1.01, Answer.SUPPORTED),
        (">=1.78", 1.78, Answer.SUPPORTED),
        (">=1.78", 1.7, Answer.REFUTED),
        (">=4,<=5", 4.5, Answer.SUPPORTED),
        (">=4,<=5", 3.0, Answer.REFUTED),
        (">=4,<=5", 6.0, Answer.REFUTED),
    ],
)
def test_the_range_of_a_claim_decides(factor, measured, said):
    assert only(pair([measured], rounds=9), factor=factor).answer is said


def test_a_claim_must_hold_against_every_column_and_fails_against_one():
    times = {"jax:jit": {"w": 1.0}, "torch2:compile": {"w": 2.0}, "tf2:xla": {"w": 0.5}}
    found = only(records(times, 9), against=("torch2:compile", "tf2:xla"))
    assert [one.answer for one in found.versus] == [Answer.SUPPORTED, Answer.REFUTED]
    assert found.answer is Answer.REFUTED
    assert found.deciding is not None
    assert found.deciding.against == "tf2:xla"


def test_of_several_columns_the_one_with_the_smallest_margin_is_shown():
    times = {"jax:jit": {"w": 1.0}, "torch2:compile": {"w": 2.0}, "tf2:xla": {"w": 1.5}}
    found = only(records(times, 9), against=("torch2:compile", "tf2:xla"))
    assert (found.answer, found.deciding and found.deciding.against) == (Answer.SUPPORTED, "tf2:xla")


def test_a_column_that_was_not_measured_leaves_open_what_the_others_support():
    found = only(pair([2.0], rounds=8), against=("torch2:compile", "tf2:xla"))
    assert (found.answer, found.why, found.missing) == (Answer.OPEN, Why.NOT_MEASURED, ("tf2:xla",))
    assert only(pair([0.5], rounds=8), against=("torch2:compile", "tf2:xla")).answer is Answer.REFUTED
    nothing = only(pair([2.0], rounds=8), columns=("tf2:xla",))
    assert (nothing.answer, nothing.why, nothing.versus) == (Answer.OPEN, Why.NOT_MEASURED, ())


def test_a_mode_alone_is_one_of_the_same_environment():
    modes = ("torch1:eager", "torch2:eager", "torch2:compile")
    found = only(records({mode: {"w": 1.0} for mode in modes}, 3), columns=("torch*:compile",), against=("eager",))
    assert [(one.column, one.against) for one in found.versus] == [("torch2:compile", "torch2:eager")]


def test_up_to_is_reached_by_one_workload():
    found = only(pair([1.0, 1.1, 3.0], rounds=10), factor=">=1.78", up_to=True)
    assert found.answer is Answer.SUPPORTED
    assert found.deciding is not None
    assert (found.deciding.best.cell.workload, found.deciding.agreeing) == ("w2", 1)
    assert only(pair([1.0, 1.1, 1.5], rounds=10), factor=">=1.78", up_to=True).answer is Answer.REFUTED
    # The best of three was chosen by the data: 3 · 2⁻⁸ is above 1 %.
    assert only(pair([1.0, 1.1, 3.0], rounds=9), factor=">=1.78", up_to=True).answer is Answer.OPEN


def test_all_claims_of_a_study_are_corrected_together():
    found = pair([2.0], rounds=8)
    one = answers(found, claim("a"))
    assert (one.tests, one.needed, one.claims[0].answer) == (1, 8, Answer.SUPPORTED)
    two = answers(found, claim("a"), claim("b"))
    assert (two.tests, two.needed) == (2, 9)
    assert {each.why for each in two.claims} == {Why.FEW}


def test_what_cannot_be_settled_and_what_was_not_measured_is_open():
    settled = Claim(name="c", says="x", unsettled="their model is not described")
    (found,) = answers(pair([2.0]), settled).claims
    assert (found.answer, found.why, found.versus) == (Answer.OPEN, Why.UNSETTLED, ())


def test_a_trial_answers_nothing():
    found = pair([2.0], rounds=9)
    manifest = Manifest(planned=tuple(dict.fromkeys(one.cell for one in found)), looks=(9,))
    trial = replace(manifest, profile=replace(manifest.profile, trial=True))
    assert answer([claim()], analyse(found, trial), trial).claims[0].why is Why.NOT_MEASURED


def test_kept_caches_say_nothing_about_empty_ones():
    found = [replace(one, first_call_s=1.0 + one.round, first_call_cache="cold") for one in pair([2.0])]
    manifest = Manifest(planned=tuple(dict.fromkeys(one.cell for one in found)), looks=(3,))
    kept = replace(manifest, profile=replace(manifest.profile, compile_cache="kept"))
    about = claim(quantity="warm-start", against=())
    assert answer([about], analyse(found, kept), kept).claims[0].why is Why.NOT_MEASURED


def test_a_cell_that_failed_counts_nowhere():
    found = [
        replace(one, status=FAILED, sample_ns=[], sample_steps=[], sample_turn=[], sample_cpu_ns=[])
        if one.cell.workload == "w1" and one.cell.column == "jax:jit"
        else one
        for one in pair([2.0, 100.0])
    ]
    (versus,) = only(found).versus
    assert (versus.factor.n, versus.factor.value) == (1, pytest.approx(2.0))


def test_memory_first_calls_and_graphs_have_factors_of_their_own():
    def values(column: str, number: int) -> dict[str, Any]:
        first = column == "jax:jit"
        call, cache = (3.0, "cold") if number < 5 else (0.5, "warm")
        return {
            "memory": {"peak_bytes": 2**20 if first else 3 * 2**20},
            "first_call_s": call if first else 2 * call,
            "first_call_cache": cache,
            "compilation": {"graphs": 1 if first else 21},
        }

    found = [replace(one, **values(one.cell.column, one.round)) for one in pair([0.1], rounds=10)]

    def factor(**given: Any) -> tuple[float, Answer]:
        one = only(found, **given)
        return round(one.versus[0].factor.value, 9), one.answer

    assert factor(quantity="memory") == (3.0, Answer.SUPPORTED)
    assert factor(quantity="graphs") == (21.0, Answer.SUPPORTED)
    # Five processes had an empty cache, and five pairs are too few.
    assert factor(quantity="first-call") == (2.0, Answer.OPEN)
    # Without pairs, five processes with either cache are enough, as in a comparison of two runs.
    assert factor(quantity="warm-start", against=(), factor=">=3.5") == (6.0, Answer.SUPPORTED)


def test_a_count_is_no_matter_of_chance():
    found = [
        replace(one, compilation={"graphs": 1 if one.cell.column == "jax:jit" else 2}) for one in pair([1.0], rounds=1)
    ]
    assert only(found, quantity="graphs").answer is Answer.SUPPORTED
    assert only(found, quantity="graphs", factor=">=3").answer is Answer.REFUTED


def test_a_workload_is_compared_with_another_one_of_the_same_column():
    found = records({"torch2:compile": {"branch-where": 1.0, "branch-if": 3.0, "other": 9.0}}, 10)
    values = {"columns": ("torch2:compile",), "against": (), "workloads": ("branch-where",)}
    one = only(found, **values, against_workload="branch-if")
    assert one.versus[0].factor.value == pytest.approx(3.0)
    assert one.answer is Answer.SUPPORTED


#: {what a claim gives: the ends of its range}
RANGES = {">1": (1.0,), ">=1": (1.0,), "<1": (1.0,), ">=1.78": (1.78,), ">=0.5,<=2": (0.5, 2.0)}


@given(
    st.lists(st.floats(0.05, 20.0), min_size=1, max_size=14),
    st.integers(1, 10),
    st.sampled_from(list(RANGES)),
    st.booleans(),
)
def test_an_answer_is_never_against_the_measured_factor(factors, rounds, factor, up_to):
    found = only(pair(factors, rounds), factor=factor, up_to=up_to)
    assert found.deciding is not None
    shown = found.deciding.shown(claim(up_to=up_to))
    measured = shown.value
    if found.answer is not Answer.OPEN and rounds < 8 and not up_to:
        # Decided by workloads, at 1 %: their interval of 95 % lies beyond every end of the range, or one of them.
        beyond = [shown.low > 0.97 * end or shown.high < 1.03 * end for end in RANGES[factor]]
        assert any(beyond) if found.answer is Answer.REFUTED else all(beyond)
    low, high = {">1": (1, 99), ">=1": (1, 99), "<1": (0, 1), ">=1.78": (1.78, 99)}.get(factor, (0.5, 2))
    if found.answer is Answer.SUPPORTED:
        assert low / 1.03 <= measured <= high * 1.03
        assert max(len(factors), rounds) >= 8
    if found.answer is Answer.REFUTED:
        assert not low * 1.03 <= measured <= high / 1.03
        assert max(len(factors), rounds) >= 8


@given(st.lists(st.floats(0.2, 5.0), min_size=1, max_size=12), st.integers(1, 9))
def test_a_claim_and_its_opposite_are_never_both_supported(factors, rounds):
    found = pair(factors, rounds)
    one = only(found)
    other = only(found, columns=("torch2:compile",), against=("jax:jit",))
    assert (one.answer, other.answer) != (Answer.SUPPORTED, Answer.SUPPORTED)
    mine, theirs = one.versus[0].factor, other.versus[0].factor
    assert mine.value * theirs.value == pytest.approx(1.0)
