"""Tests that a ranking made of a run's summary agrees with the report of the run."""

from __future__ import annotations

import pytest

from bench.host.analysis import ranking
from bench.host.analysis.baselines import baselines_of
from bench.host.analysis.run_analysis import analyse
from bench.host.analysis.speed_ups import average_tracks, compare_row
from bench.host.analysis.summaries import summarise
from bench.host.analysis.summary_ranking import rank_tracks
from bench.host.storage.run_summary import CellSummary, RunFacts, RunSummary
from bench.record import FAILED

BASELINE = "torch1:eager"


def ranked(study):
    summary = summarise(study.records, study.manifest)
    return rank_tracks(summary, summary.cells)


def reported(study):
    """Return {column: mean} of the first track of a report, and its ranking."""
    analysis = analyse(study.records, study.manifest)
    bases = baselines_of(analysis.results, BASELINE)
    grades = {result.cell: result.quality for result in analysis.results}
    rows = {}
    for result in analysis.results:
        rows.setdefault(result.cell.row, []).append(result)
    columns = list(dict.fromkeys(result.cell.column for result in analysis.results))
    compared = [compare_row(row, bases, BASELINE, grades) for row in rows.values()]
    return average_tracks(compared, columns)[0], ranking.rank(analysis, study.manifest).tracks[0]


def test_means_and_intervals_and_ranks_are_those_of_the_report(long_study):
    long_study.slow("torch2:eager", "mlp-train", 1.5)
    long_study.change("jax:jit", "dispatch", status=FAILED, stage="measure", reason="no memory")
    (found,) = ranked(long_study)
    means, track = reported(long_study)
    assert len(found.rows) == means.rows == 3
    assert {one.column: one.speed_up.value for one in found.columns if one.speed_up} == pytest.approx(dict(means.means))
    own = {one.column: one for one in found.columns}
    for one in track.columns:
        assert (own[one.column].ranks is None) == (one.standing is None)
        if one.standing is not None:
            assert own[one.column].ranks == (one.standing.best_rank, one.standing.worst_rank)
        if one.standing is not None and one.column != BASELINE:
            assert own[one.column].speed_up.low == pytest.approx(1.0 / one.standing.ratio.high, rel=0.02)
            assert own[one.column].speed_up.high == pytest.approx(1.0 / one.standing.ratio.low, rel=0.02)


def test_the_best_of_a_row_may_be_a_column_that_is_not_ranked(long_study):
    """It is in a third of the rows, so it has no rank; elsewhere nobody would know that it is the fastest there."""
    for workload in ("dispatch", "catdog-cnn-train"):
        long_study.drop("torch2:compile", workload)
        long_study.exclude("torch2:compile", workload, "for training only")
    long_study.slow("torch2:compile", "mlp-train", 0.01)
    own = {one.column: one for one in ranked(long_study)[0].columns}
    assert own["torch2:compile"].speed_up is own["torch2:compile"].ranks is own["torch2:compile"].of_best is None
    assert own["torch2:compile"].fastest_in == 1
    assert sum(one.fastest_in for one in own.values()) == 3
    assert own["jax:jit"].of_best > 3.0


def test_each_number_of_threads_has_a_ranking_of_its_own_the_one_with_most_rows_first():
    cells = [
        CellSummary(column=column, row=f"{row}/small/float32/cpu", threads=threads, step_s=[time] * 3)
        for row, threads in (("dispatch", 1), ("gemm", 2), ("mlp-train", 2))
        for column, time in (("a:eager", 1e-3), ("b:jit", 2e-3 if threads == 1 else 5e-4))
    ]
    run = RunSummary(RunFacts(run="20261122-031700-abcdef", baseline="a:eager"), tuple(cells))
    wide, narrow = rank_tracks(run, cells)
    assert (wide.threads, len(wide.rows), wide.columns[0].column) == (2, 2, "b:jit")
    assert (narrow.threads, len(narrow.rows), narrow.columns[0].column) == (1, 1, "a:eager")
    assert wide.columns[0].speed_up.value == pytest.approx(2.0)


def test_pairs_rank_and_not_medians():
    """The machine was slower in some rounds, and the median of one column is of a slow round."""
    log_ratios = [-0.1, -0.1, -0.1]
    cells = (
        CellSummary(column="a:eager", row="gemm/small/float32/cpu", threads=1, step_s=[1e-3, 1e-3, 2e-3]),
        CellSummary(
            column="b:jit",
            row="gemm/small/float32/cpu",
            threads=1,
            step_s=[0.9e-3, 1.8e-3, 1.8e-3],
            log_ratios=log_ratios,
        ),
    )
    run = RunSummary(RunFacts(run="20261122-031700-abcdef", baseline="a:eager"), cells)
    (track,) = rank_tracks(run, cells)
    assert [one.column for one in track.columns] == ["b:jit", "a:eager"]
    assert track.columns[0].speed_up.value == pytest.approx(1.105, abs=1e-3)
    assert track.columns[1].of_best == pytest.approx(1.105, abs=1e-3)
