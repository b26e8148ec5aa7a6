"""Tests that every time gets the grade that its evidence supports."""

from __future__ import annotations

import pytest

from bench.host.analysis.quality import Quality, is_noisy_ratio, is_noisy_time, quality_of
from bench.host.analysis.run_analysis import analyse
from bench.host.statistics.bootstrap import Estimate


def grade(study, column: str = "torch2:eager", workload: str = "mlp-train") -> Quality | None:
    cell = study.find(column, workload)
    results = analyse(study.records, study.manifest).results
    return quality_of(next(result for result in results if result.cell == cell))


def test_a_cell_whose_processes_agree_is_clean(long_study):
    assert grade(long_study) is Quality.CLEAN


def test_a_cell_whose_processes_disagree_is_noisy(long_study):
    long_study.change(
        "torch2:eager", "mlp-train", sample_ns=lambda r: [ns * (13 if r.round % 2 else 10) // 10 for ns in r.sample_ns]
    )
    assert grade(long_study) is Quality.NOISY


def test_samples_far_apart_in_half_of_the_processes_are_unsteady(long_study):
    for number in range(4):
        long_study.disturb("torch2:eager", "mlp-train", round=number)
    long_study.change("torch2:eager", "mlp-train", sample_ns=lambda r: [min(ns, 10**8) for ns in r.sample_ns])
    noisy = grade(long_study)
    for number in range(4, 6):
        long_study.disturb("torch2:eager", "mlp-train", round=number)
    assert grade(long_study) is Quality.UNSTEADY
    assert noisy in (Quality.NOISY, Quality.UNSTEADY)


def test_a_cell_that_was_compiled_again_is_unsteady(long_study):
    long_study.change("torch2:eager", "mlp-train", compilation={"recompiled_while_timing": 1})
    assert grade(long_study) is Quality.UNSTEADY


def test_other_programs_beside_half_of_the_processes_make_a_time_unusable(long_study):
    long_study.change("torch2:eager", "mlp-train", other_load=lambda r: 0.9 if r.round < 5 else 0.0)
    assert grade(long_study) is Quality.DISTURBED
    assert not Quality.DISTURBED.usable


def test_other_programs_beside_fewer_processes_do_not(long_study):
    long_study.change("torch2:eager", "mlp-train", other_load=lambda r: 0.9 if r.round < 4 else 0.0)
    found = grade(long_study)
    assert found is not None
    assert found.usable


def test_a_cell_without_a_time_has_no_grade(short_study):
    assert grade(short_study, "torch2:compile", "dispatch") is None


@pytest.mark.parametrize(
    ("value", "low", "high", "noisy"),
    [
        (2.0, 1.5, 2.6, False),
        (2.0, 1.3, 2.6, True),
        (0.5, 0.36, 0.7, False),
        (1.01, 0.97, 1.05, False),
        (1.01, 0.93, 1.09, True),
        (1.08, 1.04, 1.12, False),
        (1.08, 0.99, 1.18, True),
        (1.5, None, None, True),
    ],
)
def test_a_ratio_is_noisy_where_its_interval_allows_another_conclusion(value, low, high, noisy):
    assert is_noisy_ratio(Estimate(value, low, high, 3)) is noisy
    if low is not None:
        assert is_noisy_ratio(Estimate(1 / value, 1 / high, 1 / low, 3)) is noisy


@pytest.mark.parametrize(("low", "high", "noisy"), [(0.95, 1.05, False), (0.85, 1.05, True), (None, None, True)])
def test_a_time_is_noisy_where_its_interval_is_wide(low, high, noisy):
    assert is_noisy_time(Estimate(1e-3, low and low * 1e-3, high and high * 1e-3, 3)) is noisy


def test_rounds_of_unequal_speed_leave_a_ratio_clean_and_make_the_time_of_the_baseline_unsteady(long_study):
    def slower(record):
        return [ns * 3 if record.round % 2 else ns for ns in record.sample_ns]

    for column in ("torch1:eager", "torch2:eager"):
        long_study.change(column, "mlp-train", sample_ns=slower)
    assert grade(long_study) is Quality.CLEAN
    assert grade(long_study, "torch1:eager") is Quality.UNSTEADY
