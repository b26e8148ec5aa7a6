"""Tests what the results of a run say of claims: the factor, the answer, and what it rests on, with exact numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from claimed import answers, cell_of, claim, only, pair, record, records
from hypothesis import given
from hypothesis import strategies as st

from bench.host.analysis.claim_tests import Why
from bench.host.analysis.claims import Answer, answer
from bench.host.analysis.run_analysis import analyse
from bench.host.storage.manifest import Manifest
from bench.host.study.claim import Claim
from bench.host.study.twin import SUFFIX
from bench.record import FAILED


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


@pytest.mark.parametrize(
    ("factor", "measured", "said"),
    [
        (">1", 1.05, Answer.OPEN),  # was refuted, as less than the floor
        (">1", 1.2, Answer.SUPPORTED),
        (">1", 0.95, Answer.REFUTED),
        (">=1", 0.96, Answer.OPEN),  # was supported, as no worse than the floor
        (">=1", 1.05, Answer.SUPPORTED),
        (">=1", 0.9, Answer.REFUTED),
        ("<1", 0.96, Answer.OPEN),
        ("<=1", 1.04, Answer.OPEN),
        (">=4,<=5", 5.2, Answer.OPEN),
        (">=4,<=5", 6.0, Answer.REFUTED),
    ],
)
@pytest.mark.parametrize("workloads", [1, 8])
def test_noise_neither_refutes_a_claim_nor_supports_one(factor, measured, said, workloads):
    found = pair([measured] * workloads, rounds=9)
    twins = [replace(one.cell, environment=f"jax{SUFFIX}") for one in found if one.cell.column == "jax:jit"]
    # The twin is 5 % slower throughout: the floor is 6 %.
    found += [record(cell, number, 1.05) for cell in dict.fromkeys(twins) for number in range(9)]
    assert only(found, factor=factor).answer is said


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
    trial = replace(manifest, profile=manifest.profile.model_copy(update={"trial": True}))
    assert answer([claim()], analyse(found, trial), trial).claims[0].why is Why.NOT_MEASURED


def test_kept_caches_say_nothing_about_empty_ones():
    found = [replace(one, first_call_s=1.0 + one.round, first_call_cache="cold") for one in pair([2.0])]
    manifest = Manifest(planned=tuple(dict.fromkeys(one.cell for one in found)), looks=(3,))
    kept = replace(manifest, profile=manifest.profile.model_copy(update={"compile_cache": "kept"}))
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
