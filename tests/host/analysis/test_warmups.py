from __future__ import annotations

import pytest

from bench.host.analysis.result_notes import notes_on_step
from bench.host.analysis.run_analysis import analyse
from bench.host.reporting.words.notes import in_words
from bench.host.reporting.words.terms import format_warm_up, warm_up_meanings
from bench.host.statistics.warmup import WarmupClass


def warm_up(study, column="jax:jit", workload="mlp-train"):
    found = analyse(study.records, study.manifest).results
    return next(r for r in found if (r.cell.column, r.cell.workload) == (column, workload))


def test_most_processes_name_the_class_of_the_cell(long_study):
    """Slow trials make a warm-up, in the four processes that have them."""
    slow = lambda r: [3 * r.sample_ns[0] // r.sample_steps[0]] * 6 if r.round < 4 else []  # noqa: E731
    long_study.change("jax:jit", "mlp-train", warmup_ns=slow)
    found = warm_up(long_study).warm_up
    assert (found.commonest, found.agreeing, found.processes) == (WarmupClass.FLAT, 6, 10)
    assert format_warm_up(found) == "flat 6, warm-up 4"


def test_the_time_leaves_out_samples_before_the_steady_state(long_study):
    """Half of the samples are twice as slow in one cell: neither its time nor its ratio knows."""
    halves = lambda r: [ns * (2 if i < 6 else 1) for i, ns in enumerate(r.sample_ns)]  # noqa: E731
    before = warm_up(long_study)
    assert (before.warm_up.early, before.warm_up.whole_s) == (0, before.step.value)
    long_study.change("jax:jit", "mlp-train", sample_ns=halves)
    found = warm_up(long_study)
    assert found.warm_up.commonest is WarmupClass.WARM_UP
    assert found.step.value == pytest.approx(before.step.value, rel=0.02)
    assert found.ratio.estimate.value == pytest.approx(before.ratio.estimate.value, rel=0.02)
    assert found.warm_up.early == 60
    assert found.samples == (6,) * 10
    assert found.warm_up.whole_s > 1.2 * before.step.value


def test_a_cell_without_a_time_has_no_class(short_study):
    assert warm_up(short_study, "tf2:xla").warm_up is None
    assert format_warm_up(None) == ""


def test_processes_without_a_steady_state_are_told_where_they_are_most(long_study):
    """It is a course that changes shortly before its end."""
    late = lambda r: [round(ns * (1.5 if i >= 8 else 1)) for i, ns in enumerate(r.sample_ns)]  # noqa: E731
    trials = lambda r: [ns // steps for ns, steps in zip(r.sample_ns, r.sample_steps, strict=True)] * 2  # noqa: E731
    long_study.change("jax:jit", "mlp-train", warmup_ns=trials)
    long_study.change("jax:jit", "mlp-train", sample_ns=late)
    found = warm_up(long_study)
    restless_ones = found.warm_up.number_of(WarmupClass.NO_STEADY_STATE)
    assert restless_ones > 5
    assert f"no steady state in {restless_ones} of 10 processes" in in_words(notes_on_step(found))
    assert notes_on_step(warm_up(long_study, "torch1:eager")) == ()


def test_every_class_has_a_meaning():
    for one in WarmupClass:
        assert warm_up_meanings([one]).startswith(one.value)
