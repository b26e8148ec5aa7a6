"""Tests what each cell is compared with: a column, the best of its row, or the version before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.baselines import baselines_of, columns_before
from bench.host.analysis.run_analysis import analyse
from bench.host.storage.manifest import UnknownColumn
from bench.host.study.baseline import BEST, PREVIOUS


def analysed(study, baseline):
    study.run["study"]["baseline"] = baseline
    return {result.cell: result for result in analyse(study.records, study.manifest).results}


def with_versions(study, **versions):
    """Give the environments other versions of their framework."""
    study.records = [
        replace(r, versions={**r.versions, r.cell.framework: versions.get(r.cell.environment, "1.0")})
        for r in study.records
    ]


def test_the_best_of_a_row_is_its_fastest_cell(long_study):
    results = analysed(long_study, BEST)
    row = [result for result in results.values() if result.cell.workload == "mlp-train"]
    best = min(row, key=lambda result: result.step.value)
    assert best.comparison is None
    for result in row:
        if result is not best:
            expected = result.step.value / best.step.value
            assert result.ratio.estimate.value == pytest.approx(expected, rel=0.1)


def test_a_comparison_with_the_best_has_no_verdict_as_the_same_data_chose_it(long_study):
    assert all(result.verdict is None for result in analysed(long_study, BEST).values())
    assert any(result.verdict is not None for result in analysed(long_study, "torch1:eager").values())


def test_a_disturbed_cell_is_never_the_best(long_study):
    results = analysed(long_study, BEST)
    bases = baselines_of(list(results.values()), BEST)
    cell = long_study.find("torch1:eager", "mlp-train")
    best = bases[cell].cell
    long_study.change(best.column, best.workload, other_load=0.9)
    results = analysed(long_study, BEST)
    assert baselines_of(list(results.values()), BEST)[cell].cell != best


def test_a_twin_is_never_the_best(long_study):
    long_study.add_twin(factor=0.01)
    results = analyse(long_study.records, long_study.manifest)
    found = baselines_of([*results.results, *results.twins], BEST)
    assert not any(base.cell.environment.endswith("~twin") for base in found.values())


def test_each_version_is_compared_with_the_one_before_in_the_same_mode(long_study):
    with_versions(long_study, torch1="2.9.1+cpu", torch2="2.10.0")
    results = analysed(long_study, PREVIOUS)
    assert columns_before(results.values()) == {"torch2:eager": "torch1:eager"}
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        newer = results[long_study.find("torch2:eager", workload)]
        assert newer.ratio is not None
        assert newer.verdict is not None
        assert results[long_study.find("torch1:eager", workload)].comparison is None
        assert results[long_study.find("jax:jit", workload)].comparison is None


def test_a_release_candidate_comes_before_its_release(long_study):
    later = [replace(r, cell=replace(r.cell, environment="torch3")) for r in long_study.records]
    long_study.records += [r for r in later if r.cell.column == "torch3:eager" and r.cell.framework == "torch"][:30]
    with_versions(long_study, torch1="2.12.1", torch2="2.13.0+cpu", torch3="2.13.0rc1")
    before = columns_before(analysed(long_study, PREVIOUS).values())
    assert before == {"torch3:eager": "torch1:eager", "torch2:eager": "torch3:eager"}


def test_a_version_whose_predecessor_failed_is_compared_with_nothing_older(long_study):
    extra = [replace(r, cell=replace(r.cell, environment="torch3")) for r in long_study.records]
    long_study.records += [r for r in extra if r.cell.mode == "eager" and r.cell.framework == "torch"][:30]
    with_versions(long_study, torch1="1.0", torch2="2.0", torch3="3.0")
    long_study.end("torch2:eager", "dispatch", "failed", "build", "no")
    results = analysed(long_study, PREVIOUS)
    assert columns_before(results.values())["torch3:eager"] == "torch2:eager"
    third = next(r for c, r in results.items() if (c.column, c.workload) == ("torch3:eager", "dispatch"))
    assert third.comparison is None


def test_a_column_of_the_run_or_a_chosen_baseline_can_take_the_place_of_the_declared_one(long_study):
    for baseline in ("jax:jit", BEST, PREVIOUS):
        assert long_study.manifest.with_baseline(baseline).study.baseline == baseline
    with pytest.raises(UnknownColumn):
        long_study.manifest.with_baseline("beast")
