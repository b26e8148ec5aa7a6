"""Tests what the records of a run come to: comparisons at the looks, the twin, tails, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.host.analysis.results import Result
from bench.host.analysis.run_analysis import Analysis, analyse, undecided_cells
from bench.host.analysis.stops import SETTLING
from bench.host.statistics.verdict import Verdict


def analysed(study) -> Analysis:
    return analyse(study.records, study.manifest)


def result(study, column: str, workload: str) -> Result:
    found = analysed(study)
    return next(r for r in (*found.results, *found.twins) if (r.cell.column, r.cell.workload) == (column, workload))


def test_the_twin_is_kept_apart_from_the_cells_of_the_table(long_study):
    before = {r.cell for r in analysed(long_study).results}
    long_study.add_twin()
    found = analysed(long_study)
    assert {r.cell for r in found.results} == before
    assert {r.cell.column for r in found.twins} == {"torch1~twin:eager"}
    assert len(found.twins) == 3


def test_the_twin_is_no_comparison_of_the_table(long_study):
    before = analysed(long_study).comparisons
    long_study.add_twin()
    found = analysed(long_study)
    assert found.comparisons == before == 21
    assert all(r.verdict is None and r.ratio is not None for r in found.twins)


def test_the_noise_floor_is_how_far_the_twin_is_from_its_original(long_study):
    assert analysed(long_study).noise.column is None
    long_study.add_twin(factor=1.05)
    noise = analysed(long_study).noise
    assert noise.column == "torch1:eager"
    assert noise.floor.value == pytest.approx(0.05, abs=0.01)
    assert noise.tail_floor.value == pytest.approx(0.05, abs=0.02)
    assert (noise.floor.comparisons, noise.floor.fewest_pairs) == (3, 10)


def test_what_is_within_the_noise_floor_is_not_called_different(long_study):
    assert result(long_study, "tf2:eager", "mlp-train").verdict is Verdict.DIFFERENT
    assert result(long_study, "torch2:eager", "mlp-train").verdict is Verdict.DIFFERENT
    long_study.add_twin(factor=1.2)
    within = result(long_study, "torch2:eager", "mlp-train")
    assert within.ratio.estimate.value == pytest.approx(1.07, abs=0.01)
    assert within.verdict is not Verdict.DIFFERENT
    assert within.noise_floor > 0.19
    assert result(long_study, "tf2:eager", "mlp-train").verdict is Verdict.DIFFERENT


def test_a_twin_with_few_pairs_gives_no_floor(short_study):
    short_study.add_twin()
    noise = analysed(short_study).noise
    assert (noise.column, noise.most_pairs, noise.floor) == ("torch1:eager", 3, None)


def test_there_is_no_verdict_before_the_first_look(long_study):
    long_study.run["looks"] = [12, 18]
    found = analysed(long_study)
    assert found.comparisons == 21
    assert all(r.verdict is None for r in found.results)


def test_a_run_without_looks_was_looked_at_after_its_profiles_rounds(long_study):
    long_study.run["profile"]["rounds"] = 11
    assert result(long_study, "jax:jit", "mlp-train").verdict is None
    long_study.run["profile"]["rounds"] = 10
    assert result(long_study, "jax:jit", "mlp-train").verdict is Verdict.DIFFERENT


def test_only_the_rounds_of_the_looks_reached_decide(long_study):
    """Two rounds more than the look at eight are in the estimate and not in the p value."""
    long_study.run["looks"] = [8, 40]
    long_study.stop(10, "most rounds")
    found = result(long_study, "jax:jit", "mlp-train")
    assert found.ratio.estimate.n == 10
    assert found.ratio.p == pytest.approx(2.0**-7 / (8 / 40) ** 2)


def test_the_end_of_the_budget_is_a_look_and_an_interruption_is_none(long_study):
    long_study.run["looks"] = [12, 14]
    long_study.stop(10, "budget")
    ended = result(long_study, "jax:jit", "mlp-train")
    assert ended.ratio.p == pytest.approx(2.0**-9 / (10 / 14) ** 2)
    assert ended.verdict is Verdict.DIFFERENT
    long_study.run["stopped"] = {}
    assert result(long_study, "jax:jit", "mlp-train").verdict is None


def test_the_table_says_what_the_run_was_stopped_for(long_study):
    """What was settled while measuring has a verdict in the table, by the same p values."""
    long_study.run["looks"] = [10, 20]
    long_study.stop(10, "settled")
    undecided = undecided_cells(long_study.records, long_study.manifest)
    compared = {r.cell: r.verdict for r in analysed(long_study).results if r.cell.column != "torch1:eager"}
    decided = {cell for cell, verdict in compared.items() if verdict in SETTLING}
    assert decided == compared.keys() - set(undecided)
    assert decided


def test_a_tail_is_judged_apart_from_the_median(long_study):
    """Every third sample of a cell is twice as slow: the median hardly moves, the 90% quantile doubles."""
    cell = long_study.find("torch2:eager", "mlp-train")
    for number, record in enumerate(long_study.records):
        if record.cell == cell:
            slow = [ns * (2 if i % 6 == 0 else 1) for i, ns in enumerate(record.sample_ns)]
            long_study.records[number] = replace(record, sample_ns=slow)
    found = result(long_study, "torch2:eager", "mlp-train")
    assert found.ratio.estimate.value == pytest.approx(1.07, abs=0.02)
    assert found.tail.ratio.estimate.value == pytest.approx(2.1, abs=0.2)
    assert found.tail.verdict is Verdict.DIFFERENT


def test_a_strict_study_refuses_cells_with_other_settings(long_study):
    long_study.run["strict"] = True
    refused = result(long_study, "jax:jit", "mlp-train")
    assert refused.refused == (("instruction set", "AVX512", "AVX2"),)
    assert (refused.comparison, refused.tail, refused.break_even) == (None, None, None)
    assert refused.step is not None
    assert result(long_study, "torch1:torchscript", "mlp-train").verdict is Verdict.DIFFERENT
    assert analysed(long_study).comparisons == 3


def test_disturbed_turns_are_left_out_of_the_times(long_study):
    """A turn that took a hundred times as long is no warm-up, and moves nothing, once it is marked as disturbed."""
    clean = result(long_study, "jax:jit", "mlp-train")
    long_study.change(
        "jax:jit",
        "mlp-train",
        sample_ns=lambda r: [ns * (100 if t == 1 else 1) for ns, t in zip(r.sample_ns, r.sample_turn, strict=True)],
    )
    assert result(long_study, "jax:jit", "mlp-train").samples == (6,) * 10
    long_study.change(workload="mlp-train", disturbed={"1": "somebody"})
    found = result(long_study, "jax:jit", "mlp-train")
    assert not found.irregular
    assert found.step.value == pytest.approx(clean.step.value, rel=0.02)
    assert found.samples == (9,) * 10
    assert (found.disturbances.turns, found.disturbances.left_out) == (40, 10)
    assert np.isclose(found.ratio.estimate.value, 0.55, atol=0.02)


@pytest.mark.parametrize("column", [None, "torch1:eager"])
def test_a_row_beside_other_programs_makes_no_other_comparison_more_certain(long_study, column):
    """Its numbers are withheld, and entered the correction as findings: they helped others to be called different."""
    before = {one.cell: one for one in analysed(long_study).results if one.comparison}
    long_study.change(column, "mlp-train", other_load=0.9)
    after = {one.cell: one for one in analysed(long_study).results if one.comparison}
    assert after.keys() == before.keys()
    for cell, one in after.items():
        for now, earlier in ((one.comparison, before[cell].comparison), (one.tail, before[cell].tail)):
            if cell.workload == "mlp-train":
                assert (now.verdict, now.adjusted_p) == (Verdict.INCONCLUSIVE, 1.0)
            else:
                assert now.adjusted_p >= earlier.adjusted_p
    assert any(one.verdict is Verdict.DIFFERENT for one in before.values() if one.cell.workload == "mlp-train")


def test_a_cell_beside_other_programs_is_not_settled(long_study):
    long_study.run["looks"] = [10, 20]
    cell, base = long_study.find("tf2:eager", "mlp-train"), long_study.find("torch1:eager", "mlp-train")
    assert cell not in undecided_cells(long_study.records, long_study.manifest)
    long_study.change("tf2:eager", "mlp-train", other_load=0.9)
    assert {cell, base} <= set(undecided_cells(long_study.records, long_study.manifest))
