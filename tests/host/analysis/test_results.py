from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.results import EXCLUDED, NOT_RUN
from bench.host.analysis.run_analysis import analyse
from bench.host.statistics.verdict import Verdict
from bench.host.storage.manifest import Manifest, StudySummary
from bench.record import FAILED, IMPLAUSIBLE, MISMATCH, OK, TIMEOUT

BASELINE = "torch1:eager"


def results_of(study, baseline=BASELINE):
    manifest = replace(study.manifest, study=StudySummary(baseline=baseline))
    found = analyse(study.records, manifest)
    return {(result.cell.column, result.cell.workload): result for result in found.results}


def test_every_planned_and_excluded_cell_has_a_result(short_study):
    assert set(results_of(short_study)) == {(cell.column, cell.workload) for cell in short_study.cells}


def test_statuses_are_those_planted(short_study):
    found = {key: result.status for key, result in results_of(short_study).items() if result.status != OK}
    assert found == {
        ("torch2:compile", "dispatch"): "timeout",
        ("tf2:xla", "mlp-train"): "mismatch",
        ("jax:eager", "catdog-cnn-train"): "out-of-memory",
        ("tf2:eager", "catdog-cnn-train"): "unsupported",
        ("torch1:torchscript", "catdog-cnn-train"): EXCLUDED,
        ("jax:jit", "catdog-cnn-train"): NOT_RUN,
    }


def test_step_time_is_the_median_of_the_processes_medians(long_study):
    result = results_of(long_study)["jax:jit", "mlp-train"]
    medians = sorted(location.median for location in result.locations)
    assert result.step.value == pytest.approx((medians[4] + medians[5]) / 2)
    assert result.step.n == 10
    assert result.samples == (12,) * 10


def test_ratio_is_the_planted_one_although_the_machine_drifts(long_study):
    ratio = results_of(long_study)["torch2:compile", "mlp-train"].ratio
    assert ratio.estimate.low <= 0.71 <= ratio.estimate.high
    assert ratio.estimate.n == 10


def test_verdicts_follow_the_planted_factors(long_study):
    found = results_of(long_study)
    assert found["torch2:compile", "mlp-train"].verdict is Verdict.DIFFERENT
    assert found[BASELINE, "mlp-train"].verdict is None
    assert all(r.comparison.adjusted_p >= r.ratio.p for r in found.values() if r.comparison)


def test_three_rounds_give_intervals_and_no_verdict(short_study):
    timed = [result for result in results_of(short_study).values() if result.ratio]
    assert timed
    assert all(result.verdict is None and result.comparison.adjusted_p is None for result in timed)
    assert all(result.ratio.estimate.low is not None for result in timed)


def test_one_mismatch_takes_the_whole_cell_out(long_study):
    long_study.end("jax:jit", "mlp-train", MISMATCH, "check", "loss is off", rounds=(4,))
    result = results_of(long_study)["jax:jit", "mlp-train"]
    assert (result.status, result.stage, result.reason) == (MISMATCH, "check", "loss is off")
    assert result.step is None
    assert result.ratio is None


def test_a_crash_in_one_round_leaves_the_others(long_study):
    long_study.end("jax:jit", "mlp-train", FAILED, "measure", "SIGSEGV", rounds=(4,))
    result = results_of(long_study)["jax:jit", "mlp-train"]
    assert result.status == OK
    assert result.step.n == result.ratio.estimate.n == 9


def test_a_failed_baseline_leaves_the_times_without_ratios(long_study):
    long_study.end("torch1:eager", "mlp-train", TIMEOUT, "build", "300 s passed")
    found = results_of(long_study)
    assert found["jax:jit", "mlp-train"].step is not None
    assert found["jax:jit", "mlp-train"].ratio is None
    assert found["jax:jit", "dispatch"].ratio is not None


def test_processes_of_different_attempts_are_not_paired(long_study):
    cell = long_study.find("jax:jit", "mlp-train")
    long_study.records = [
        replace(record, attempt=2) if record.cell == cell and record.round < 3 else record
        for record in long_study.records
    ]
    result = results_of(long_study)["jax:jit", "mlp-train"]
    assert (result.step.n, result.ratio.estimate.n) == (10, 7)


def test_a_record_without_samples_counts_its_first_call_only(long_study):
    cell = long_study.find("jax:jit", "mlp-train")
    first = next(record for record in long_study.records if record.cell == cell)
    bare = replace(first, attempt=9, first_call_s=99.0, sample_ns=[], sample_cpu_ns=[], sample_turn=[])
    long_study.records.append(bare)
    result = results_of(long_study)["jax:jit", "mlp-train"]
    assert result.step.n == 10
    assert result.first_call_s("cold") == pytest.approx((0.04 + 99.0) / 2)
    assert result.first_call_s("warm") == pytest.approx(0.04)


def test_memory_of_a_gpu_cell_is_what_its_allocator_reports(long_study):
    record = long_study.records[0]
    gpu = replace(
        record,
        cell=replace(record.cell, device="gpu"),
        memory={"peak_bytes": 5, "allocated_peak_bytes": 70},
    )
    manifest = Manifest.from_json({})
    assert analyse([gpu], manifest).results[0].peak_bytes == 70
    assert analyse([record], manifest).results[0].peak_bytes == 150 * 2**20


def test_memory_in_which_compilers_tried_kernels_counts_only_where_there_is_no_other(long_study):
    cold = replace(
        long_study.records[0],
        cell=replace(long_study.records[0].cell, device="gpu"),
        memory={"allocated_peak_bytes": 300},
        first_call_cache="cold",
    )
    warm = replace(cold, round=1, memory={"allocated_peak_bytes": 140}, first_call_cache="warm")
    manifest = Manifest.from_json({})
    assert analyse([cold, warm], manifest).results[0].peak_bytes == 140
    assert analyse([cold], manifest).results[0].peak_bytes == 300


def test_no_records_at_all_is_a_result_too(short_study):
    short_study.records = []
    assert {result.status for result in results_of(short_study).values()} == {NOT_RUN, EXCLUDED}


def test_one_process_that_was_faster_than_the_machine_speaks_for_the_cell(long_study):
    cell = long_study.find("jax:jit", "mlp-train")
    first = next(record for record in long_study.records if record.cell == cell)
    number = long_study.records.index(first)
    long_study.records[number] = replace(first, status=FAILED, stage=IMPLAUSIBLE, reason="too fast")
    found = results_of(long_study)["jax:jit", "mlp-train"]
    assert (found.status, found.stage, found.reason, found.step) == (FAILED, IMPLAUSIBLE, "too fast", None)
    long_study.records[number] = replace(first, status=FAILED, stage="measure", reason="it died")
    assert results_of(long_study)["jax:jit", "mlp-train"].status == OK
