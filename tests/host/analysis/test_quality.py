"""Tests that every time gets the grade that its evidence supports."""

from __future__ import annotations

from bench.host.analysis.quality import Quality, quality_of
from bench.host.analysis.run_analysis import analyse


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
