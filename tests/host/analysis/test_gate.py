"""Tests when a gate on slowdowns passes, fails, and cannot tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.gate import Gate, Judged
from bench.host.analysis.results import NOT_RUN
from bench.host.analysis.run_analysis import analyse
from bench.host.statistics.verdict import Verdict
from bench.record import FAILED, MISMATCH, OUT_OF_MEMORY, TIMEOUT, UNSUPPORTED


def judged(study, slower: float) -> Judged:
    return Gate(slower).judge(analyse(study.records, study.manifest), study.manifest.study.baseline)


def names(results) -> set[str]:
    return {f"{result.cell.column} {result.cell.workload}" for result in results}


def test_a_column_that_is_slower_by_more_than_the_limit_fails_the_gate(long_study):
    found = analyse(long_study.records, long_study.manifest)
    slower = {f"{r.cell.column} {r.cell.workload}" for r in found.results if r.ratio and r.ratio.estimate.value > 1.05}
    assert slower
    assert names(judged(long_study, 0.05).slower) == slower


def test_a_limit_above_every_slowdown_passes(long_study):
    found = analyse(long_study.records, long_study.manifest)
    worst = max(r.ratio.estimate.value for r in found.results if r.ratio)
    found_within = judged(long_study, worst)
    assert (found_within.slower, found_within.open, found_within.lost) == ((), (), ())
    assert found_within.compared == found.comparisons


@pytest.mark.parametrize("limit", [0.0, 0.05, 10.0])
def test_without_verdicts_nothing_passes(short_study, limit):
    found = judged(short_study, limit)
    assert not found.slower
    analysis = analyse(short_study.records, short_study.manifest)
    assert len(found.open) == analysis.comparisons
    assert {result.status for result in found.lost} == {NOT_RUN, MISMATCH, OUT_OF_MEMORY, TIMEOUT}
    assert analysis.comparisons > 0


def test_a_column_that_is_faster_never_fails(long_study):
    found = analyse(long_study.records, long_study.manifest)
    faster = {f"{r.cell.column} {r.cell.workload}" for r in found.results if r.ratio and r.ratio.estimate.value < 0.9}
    assert faster
    assert not faster & names(judged(long_study, 0.0).slower)


def test_a_row_before_which_the_run_ended_is_no_pass(long_study):
    """With a budget, a row that had no round at all passed the gate."""
    for column in {cell.column for cell in long_study.cells}:
        long_study.drop(column, "dispatch")
    columns = {cell.column for cell in long_study.cells} - {"torch1:eager"}
    assert names(judged(long_study, 10.0).lost) == {f"{column} dispatch" for column in columns}


@pytest.mark.parametrize("column", ["torch2:eager", "torch1:eager"])
def test_a_number_that_the_tables_withhold_decides_nothing(long_study, column):
    """It was slower by 19 % beside other programs, and by 24 % alone: the gate must not judge what nobody is shown."""
    long_study.slow("torch2:eager", "mlp-train", 3.0)
    assert "torch2:eager mlp-train" in names(judged(long_study, 0.05).slower)
    long_study.change(column, "mlp-train", other_load=0.9)
    found = judged(long_study, 0.05)
    assert "torch2:eager mlp-train" not in names(found.slower)
    assert "torch2:eager mlp-train" in names(found.open)


@pytest.mark.parametrize("column", ["torch2:eager", "torch1:eager"])
def test_a_cell_that_failed_or_whose_baseline_did_is_no_pass(long_study, column):
    long_study.change(column, "mlp-train", status=FAILED, stage="measure", reason="no memory")
    found = judged(long_study, 10.0)
    assert "torch2:eager mlp-train" in names(found.lost)
    assert all(name.endswith("mlp-train") for name in names(found.lost))


def test_what_a_machine_does_not_support_is_not_expected_to_be_compared(long_study):
    long_study.change("torch2:eager", "mlp-train", status=UNSUPPORTED, stage="build", reason="no such kernel")
    assert judged(long_study, 10.0).lost == ()


@pytest.mark.parametrize(
    ("estimate", "deciding", "limit", "is_open"),
    [
        (1.015, (1.012, 1.018), 0.01, True),
        (1.005, (1.001, 1.012), 0.01, True),
        (1.005, (1.001, 1.009), 0.01, False),
        (0.985, (0.982, 0.988), 0.01, False),
        (1.015, (1.012, 1.018), 0.05, False),
    ],
)
def test_what_is_equivalent_within_2_percent_passes_a_smaller_limit_by_its_interval(
    long_study, estimate, deciding, limit, is_open
):
    """With slower:1%, a cell that is certainly slower by 1.2 % was equivalent, and so no slowdown."""
    analysis = analyse(long_study.records, long_study.manifest)
    one = next(result for result in analysis.results if result.ratio)
    ratio = replace(one.ratio, estimate=replace(one.ratio.estimate, value=estimate), deciding=deciding)
    same = replace(one, comparison=replace(one.comparison, ratio=ratio, verdict=Verdict.EQUIVALENT))
    found = Gate(limit).judge(replace(analysis, results=(same,)), long_study.manifest.study.baseline)
    assert (found.slower, found.open) == ((), (same,) if is_open else ())
