"""Tests results of a part of a run: they are those of the whole run, also what is certain about them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.host.analysis.baselines import baselines_of
from bench.host.analysis.run_analysis import analyse
from bench.host.reporting import report
from bench.host.reporting.words.remarks import verdict_remark
from bench.host.statistics.verdict import Verdict
from bench.host.study.baseline import BEST, PREVIOUS

BASELINE = "torch1:eager"
#: No test of a property changes the study.
unchanged = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)


@unchanged
@given(st.randoms(use_true_random=False))
def test_a_part_has_the_results_and_verdicts_of_the_whole_run(long_study, random):
    chosen = {cell for cell in long_study.cells if random.random() < 0.5 or cell.column == BASELINE}
    whole = {result.cell: result for result in analyse(long_study.records, long_study.manifest).results}
    part = analyse(long_study.records, long_study.manifest, lambda cell: cell in chosen)
    assert {result.cell for result in part.results} == chosen
    assert all(result.comparison == whole[result.cell].comparison for result in part.results)
    assert part.comparisons == sum(result.comparison is not None for result in whole.values())


def test_no_difference_becomes_certain_because_others_are_hidden(long_study):
    """Two comparisons alone would be certain; beside many that are not, they are open."""
    for cell in long_study.cells:
        if cell.column != BASELINE:
            factor = 1.03 if (cell.column, cell.workload) == ("jax:jit", "mlp-train") else 1.0
            base = {r.round: r for r in long_study.records if r.cell == long_study.find(BASELINE, cell.workload)}
            long_study.change(
                cell.column,
                cell.workload,
                sample_ns=lambda r, base=base, factor=factor: [
                    round(ns * factor * (1 + 0.002 * ((r.round * 7 + i) % 5 - 2)))
                    for i, ns in enumerate(base[r.round].sample_ns)
                ],
            )
    manifest = long_study.manifest
    whole = {r.cell: r for r in analyse(long_study.records, manifest).results}
    cell = long_study.find("jax:jit", "mlp-train")
    part = analyse(
        long_study.records, manifest, lambda one: one.row == cell.row and one.column in (BASELINE, "jax:jit")
    )
    (shown,) = (r for r in part.results if r.cell == cell)
    alone = [r for r in long_study.records if r.cell in {result.cell for result in part.results}]
    kept = replace(manifest, planned=tuple(result.cell for result in part.results), excluded=())
    (tested_alone,) = (r for r in analyse(alone, kept).results if r.cell == cell)
    assert shown.comparison.adjusted_p == whole[cell].comparison.adjusted_p > tested_alone.comparison.adjusted_p


def test_the_best_of_a_part_is_one_that_it_shows(long_study):
    manifest = long_study.manifest.with_baseline(BEST)
    row = long_study.find("jax:jit", "mlp-train").row
    whole = analyse(long_study.records, manifest).results
    best = next(iter({base.cell for cell, base in baselines_of(whole, BEST).items() if cell.row == row}))
    part = analyse(long_study.records, manifest, lambda cell: cell.column != best.column)
    next_best = {base.cell for cell, base in baselines_of(part.results, BEST).items() if cell.row == row}
    assert best not in next_best <= {result.cell for result in part.results}
    ratios = [result.ratio.estimate.value for result in part.results if result.cell.row == row and result.ratio]
    assert len(ratios) > 3
    assert min(ratios) > 1.0


def test_the_noise_floor_of_a_twin_that_is_hidden_still_counts(long_study):
    long_study.add_twin()
    versions = {"torch1": "1.13.1", "torch2": "2.15.0", "torch3": "3.0"}
    for name in ("torch1", "torch2"):
        for column in {cell.column for cell in long_study.cells if cell.environment == name}:
            long_study.change(column, versions={"torch": versions[name]})
    manifest = long_study.manifest.with_baseline(PREVIOUS)
    whole = analyse(long_study.records, manifest)
    part = analyse(long_study.records, manifest, lambda cell: cell.environment == "torch2")
    assert whole.noise.floor is not None
    assert part.noise == whole.noise
    # The version before is not shown, so there is nothing to compare with.
    assert all(result.comparison is None for result in part.results)


@unchanged
@given(st.sets(st.sampled_from(["dispatch", "mlp-train", "catdog-cnn-train"]), min_size=1))
def test_rows_that_are_hidden_count_where_versions_are_compared_with_those_before(long_study, workloads):
    """One row alone made differences certain that were open in the whole run."""
    versions = {"torch1": "1.13.1", "torch2": "2.15.0"}
    records = [replace(r, versions={"torch": versions.get(r.cell.environment, "")}) for r in long_study.records]
    records = [r for r in records if r.cell.environment in versions and r.cell.mode == "eager"]
    manifest = long_study.manifest.with_baseline(PREVIOUS)
    manifest = replace(manifest, planned=tuple(dict.fromkeys(record.cell for record in records)))
    whole = {result.cell: result for result in analyse(records, manifest).results}
    part = analyse(records, manifest, lambda cell: cell.workload in workloads)
    assert {result.cell.workload for result in part.results} == workloads
    assert all(result.comparison == whole[result.cell].comparison for result in part.results)
    assert part.comparisons == sum(result.comparison is not None for result in whole.values()) == 3


def test_comparisons_that_are_hidden_do_not_lack_a_verdict(long_study):
    made = report.make(long_study.records, long_study.manifest, shown=lambda cell: cell.column in (BASELINE, "jax:jit"))
    assert any(result.verdict is Verdict.DIFFERENT for result in made.analysis.results)
    remark = verdict_remark(made.analysis, long_study.manifest)
    assert "no verdict" not in remark
    assert f"over {made.analysis.comparisons} comparisons" in remark
    assert made.analysis.comparisons > len(made.analysis.results)
