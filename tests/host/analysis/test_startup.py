from __future__ import annotations

import math

import pytest

from bench.host.analysis.run_analysis import analyse
from bench.host.analysis.startup import import_s
from bench.host.statistics.verdict import Verdict


def results(study):
    found = analyse(study.records, study.manifest).results
    return {(r.cell.column, r.cell.workload): r for r in found}


def test_a_slow_start_is_made_good_after_its_cost_over_the_saving(long_study):
    found = results(long_study)
    compiled, base = found["torch2:compile", "mlp-train"], found["torch1:eager", "mlp-train"]
    assert compiled.break_even == pytest.approx((11.3 - 0.04) / (base.step.value - compiled.step.value))


def test_slower_steps_never_make_good_and_a_quick_start_needs_nothing(long_study):
    found = results(long_study)
    assert found["jax:eager", "mlp-train"].break_even == math.inf
    assert found["jax:jit", "mlp-train"].break_even == 0.0
    assert found["torch1:eager", "mlp-train"].break_even is None


@pytest.mark.parametrize(("noise", "verdict"), [(1.0, Verdict.EQUIVALENT), (3.0, Verdict.INCONCLUSIVE)])
def test_a_saving_that_is_not_known_makes_good_for_nothing(long_study, noise, verdict):
    """A cell that is the baseline, but for noise in every second process."""
    base = {r.round: r for r in long_study.records if r.cell == long_study.find("torch1:eager", "mlp-train")}
    long_study.change(
        "torch2:compile",
        "mlp-train",
        sample_ns=lambda r: [round(ns * noise ** (r.round % 2 - 0.4)) for ns in base[r.round].sample_ns],
    )
    found = results(long_study)["torch2:compile", "mlp-train"]
    assert found.verdict is verdict
    assert found.break_even is None


def test_without_a_verdict_the_interval_says_whether_a_saving_is_known(short_study):
    assert results(short_study)["torch2:compile", "mlp-train"].break_even > 0
    base = {r.round: r for r in short_study.records if r.cell == short_study.find("torch1:eager", "mlp-train")}
    short_study.change(
        "torch2:compile",
        "mlp-train",
        sample_ns=lambda r: [round(ns * 1.1 ** (r.round % 2 - 0.5)) for ns in base[r.round].sample_ns],
    )
    assert results(short_study)["torch2:compile", "mlp-train"].break_even is None


def test_compared_with_the_best_of_a_row_it_says_when_that_one_leads(long_study):
    long_study.run["study"]["baseline"] = "best"
    row = {c: r for (c, workload), r in results(long_study).items() if workload == "mlp-train"}
    best = min(row.values(), key=lambda one: one.step.value)
    known = [one for one in row.values() if one is not best and one.break_even is not None]
    assert known
    for one in known:
        extra = best.first_call_s("cold") - one.first_call_s("cold")
        assert one.break_even == pytest.approx(max(0.0, extra / (one.step.value - best.step.value)))
    assert best.break_even is None


def test_an_unknown_first_call_leaves_it_open(long_study):
    long_study.change("torch2:compile", "mlp-train", first_call_s=None)
    assert results(long_study)["torch2:compile", "mlp-train"].break_even is None


def test_imports_alone_are_shown_before_those_beside_others(long_study):
    long_study.change(import_s=lambda r: 1.0 + r.round, import_alone=lambda r: r.round < 2)
    assert import_s(results(long_study)["jax:jit", "mlp-train"]) == 1.5
    long_study.change(import_alone=False)
    assert import_s(results(long_study)["jax:jit", "mlp-train"]) == 5.5
