"""Tests which cells of a row are its best: the fastest, and what its pairs of processes do not set apart from it."""

from __future__ import annotations

from dataclasses import replace

from bench.host.analysis.best_of_row import best_of_row
from bench.host.reporting import report


def best(study, workload):
    found = report.make(study.records, study.manifest).speed_ups
    (row,) = [row for row in found.rows if row.any_cell.workload == workload]
    return best_of_row(row.cells)


def scatter(study, column, factors):
    """Multiply the times of a column by a factor of each round, in turn."""
    study.records = [
        replace(r, sample_ns=[int(ns * factors[r.round % len(factors)]) for ns in r.sample_ns])
        if r.cell.column == column
        else r
        for r in study.records
    ]


def test_a_baseline_that_scatters_does_not_make_others_equal(long_study):
    """Speed-ups over it have wide intervals, which overlap, although every pair of the others agrees."""
    scatter(long_study, "torch1:eager", (1.0, 1.5, 0.8))
    long_study.slow("jax:jit", "mlp-train", 0.2)
    long_study.slow("torch2:compile", "mlp-train", 0.22)
    assert best(long_study, "mlp-train") == {"jax:jit"}


def test_what_the_pairs_do_not_set_apart_is_among_the_best(long_study):
    long_study.slow("jax:jit", "mlp-train", 0.2)
    long_study.slow("torch2:compile", "mlp-train", 0.2)
    step = dict.fromkeys(("jax:jit", "torch2:compile"), 0.0)
    for record in long_study.records:
        if record.cell.workload == "mlp-train" and record.cell.column in step:
            step[record.cell.column] += sum(record.sample_ns) / sum(record.sample_steps)
    equal = step["jax:jit"] / step["torch2:compile"]
    long_study.slow("torch2:compile", "mlp-train", equal)
    scatter(long_study, "torch2:compile", (0.9, 1.1))
    assert best(long_study, "mlp-train") == {"jax:jit", "torch2:compile"}


def test_a_row_with_one_ratio_has_no_best(long_study):
    long_study.records = [
        r for r in long_study.records if r.cell.workload != "mlp-train" or r.cell.column == "torch1:eager"
    ]
    assert best(long_study, "mlp-train") == set()
