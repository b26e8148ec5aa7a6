"""Tests when a gate on slowdowns passes, fails, and cannot tell."""

from __future__ import annotations

import pytest

from bench.host.analysis.gate import Gate, Judged
from bench.host.analysis.results import NOT_RUN
from bench.host.analysis.run_analysis import analyse


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
    assert (found_within.slower, found_within.open) == ((), ())
    assert found_within.compared == found.comparisons


@pytest.mark.parametrize("limit", [0.0, 0.05, 10.0])
def test_without_verdicts_nothing_passes(short_study, limit):
    found = judged(short_study, limit)
    assert not found.slower
    analysis = analyse(short_study.records, short_study.manifest)
    missing = [result for result in analysis.results if result.status == NOT_RUN]
    assert len(found.open) == analysis.comparisons + len(missing)
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
    assert names(judged(long_study, 10.0).open) == {f"{column} dispatch" for column in columns}
