from __future__ import annotations

import math
from dataclasses import replace

from bench.host.analysis.profiles import common_steps, profile_tracks
from bench.host.analysis.run_analysis import analyse


def results_of(study):
    return analyse(study.records, study.manifest).results


def keep(study, column, *workloads):
    """Leave a column in some rows only, as a mode for training."""
    study.records = [r for r in study.records if r.cell.column != column or r.cell.workload in workloads]
    study.run["planned"] = []


def test_a_column_in_few_rows_has_no_profile_and_counts_for_the_best_of_its_row(long_study):
    whole = profile_tracks(results_of(long_study))[0].columns
    keep(long_study, "jax:jit", "mlp-train")
    (found,) = profile_tracks(results_of(long_study))
    assert len(found.rows) == 3
    assert found.columns.keys() == whole.keys() - {"jax:jit"}
    # The second best of all rows is the best of those that the column is not in.
    assert found.columns["torch2:compile"].share(1.0) == 2 / 3
    assert whole["torch2:compile"].share(1.0) == 0.0


def test_rows_of_another_number_of_threads_are_a_track_of_their_own(long_study):
    long_study.records += [
        replace(r, cell=replace(r.cell, threads=1)) for r in long_study.records if r.cell.workload != "dispatch"
    ]
    tracks = profile_tracks(results_of(long_study))
    assert [(one.threads, len(one.rows)) for one in tracks] == [(2, 3), (1, 2)]


def test_a_failure_takes_for_ever_and_a_row_without_a_time_has_no_best(long_study):
    long_study.end("jax:jit", "dispatch", "failed", "import", "no module")
    for column in {r.cell.column for r in long_study.records}:
        long_study.end(column, "mlp-train", "timeout", "build", "300 s passed")
    steps = common_steps(results_of(long_study))
    assert [cell.workload for cell, step_s in steps.items() if math.isinf(step_s)] == ["dispatch"]
    assert {cell.workload for cell in steps} == {"dispatch", "catdog-cnn-train"}


def test_disturbed_and_excluded_cells_do_not_count(long_study):
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    long_study.exclude("jax:eager", "mlp-train", "the study leaves it out")
    counted = {cell.column for cell in common_steps(results_of(long_study)) if cell.workload == "mlp-train"}
    assert counted.isdisjoint({"jax:jit", "jax:eager"})
    assert len(counted) == 6
