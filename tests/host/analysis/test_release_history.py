"""Versions against each other: planted changes are found where they are, and nothing where there is none."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from releases import MEMBERS, VERSIONS, Releases

from bench.host.analysis.release_history import analyse_history
from bench.host.analysis.release_values import Quantity
from bench.host.analysis.release_verdicts import VersionVerdict
from bench.host.analysis.releases import lines_of
from bench.host.analysis.run_analysis import analyse
from bench.host.statistics.verdict import adjust_for_claims

MORE, LESS, SAME, UNCLEAR = VersionVerdict
#: 5 % slower at the third version, back at the fourth.
PLANTED = {"gemm": (1.0, 1.0, 1.05, 1.0), "mlp-train": (1.0, 0.8, 0.8, 0.8)}


def history(run, **options):
    return analyse_history(run.records, run.manifest, MEMBERS, **options)


def changes(found, quantity, workload=None):
    """Return the verdicts against the version before and against the baseline, by version."""
    course = next(c for c in found.of(quantity) if workload in (None, c.line.cell.workload))
    return (
        [point.before.change if point.before else None for point in course.points],
        [point.baseline.change if point.baseline else None for point in course.points],
    )


def test_a_planted_slowdown_is_found_at_its_version_and_nowhere_else():
    found = history(Releases(PLANTED))
    before, baseline = changes(found, Quantity.STEP, "gemm")
    assert before == [None, SAME, MORE, LESS]
    assert baseline == [None, SAME, MORE, SAME]
    before, baseline = changes(found, Quantity.STEP, "mlp-train")
    assert before == [None, LESS, SAME, SAME]
    assert baseline == [None, LESS, LESS, LESS]


def test_the_effect_is_that_which_was_planted_within_its_interval():
    course = history(Releases(PLANTED)).of(Quantity.STEP)[0]
    ratio = course.points[2].before.ratio.estimate
    assert ratio.low < 1.05 < ratio.high
    assert ratio.value == pytest.approx(1.05, rel=0.005)


def test_versions_are_compared_in_order_of_release():
    run = Releases(PLANTED)
    run.records.reverse()
    run.run["planned"].reverse()
    course = history(run).of(Quantity.STEP)[0]
    assert [point.release.version for point in course.points] == list(VERSIONS)
    assert [point.before.other.version for point in course.points[1:]] == list(VERSIONS[:-1])


def test_a_version_that_failed_is_passed_over_and_keeps_its_place():
    run = Releases(PLANTED)
    run.fail("1.10.0", "no wheel")
    course = history(run).of(Quantity.STEP)[0]
    failed, after = course.points[1], course.points[2]
    assert (failed.release.status, failed.value, failed.before, failed.baseline) == ("failed", None, None, None)
    assert after.before.other.version == "1.9.0"
    assert after.before.change is MORE


def test_another_baseline_can_be_chosen_and_older_versions_are_compared_with_it_too():
    _before, baseline = changes(history(Releases(PLANTED), against="1.11.0"), Quantity.STEP, "gemm")
    assert baseline == [LESS, LESS, None, LESS]


def test_where_the_oldest_version_failed_the_next_one_is_the_baseline():
    run = Releases(PLANTED)
    run.fail("1.9.0", "no wheel")
    assert {course.baseline.version for course in history(run).of(Quantity.STEP)} == {"1.10.0"}


def test_the_p_values_of_all_comparisons_are_adjusted_together_and_each_counts_once():
    found = history(Releases(PLANTED))
    # Of a line: three steps and two more against the baseline, as the first step is both.
    assert found.comparisons[Quantity.STEP] == 2 * 5
    steps = {
        (course.line.cell.workload, point.release.version, step.other.version): step
        for course in found.of(Quantity.STEP)
        for point in course.points
        for step in (point.before, point.baseline)
        if step
    }
    import numpy as np

    expected = adjust_for_claims(np.array([step.ratio.p for step in steps.values()]))
    assert [step.adjusted_p for step in steps.values()] == pytest.approx(expected.tolist())


def test_too_few_rounds_give_no_difference_and_the_number_that_is_needed():
    found = history(Releases(PLANTED, rounds=9))
    assert MORE not in changes(found, Quantity.STEP, "gemm")[0]
    assert (found.most_pairs, found.needed_rounds) == (9, 11)
    enough = history(Releases(PLANTED, rounds=11))
    assert changes(enough, Quantity.STEP, "gemm")[0][2] is MORE


def test_several_looks_need_more_rounds():
    run = Releases(PLANTED, rounds=16)
    once = history(run).needed_rounds
    run.run["looks"] = [8, 12, 16]
    assert history(run).needed_rounds > once


@pytest.mark.parametrize("seed", range(20))
def test_without_a_change_no_version_is_slower_or_faster(seed):
    found = history(Releases({"gemm": (1.0,) * 4, "mlp-train": (1.0,) * 4}, seed=seed, noise=0.01))
    for workload in ("gemm", "mlp-train"):
        for verdicts in changes(found, Quantity.STEP, workload):
            assert not {MORE, LESS} & set(verdicts)


@pytest.mark.parametrize("seed", range(20))
def test_a_slowdown_of_five_percent_is_found_in_noise_of_one(seed):
    found = history(Releases(PLANTED, seed=seed, noise=0.01))
    assert changes(found, Quantity.STEP, "gemm")[0][2] is MORE


def test_imports_first_calls_memory_and_disk_are_compared_likewise():
    found = history(Releases(PLANTED))
    assert changes(found, Quantity.WARM_CALL)[0] == [
        None,
        MORE,
        LESS,
        SAME,
    ]
    assert changes(found, Quantity.IMPORT)[0] == [None, SAME, MORE, SAME]
    assert changes(found, Quantity.MEMORY)[0] == [None, SAME, SAME, MORE]
    assert changes(found, Quantity.DISK)[0] == [None, SAME, MORE, LESS]


def test_the_memory_of_versions_is_that_of_the_other_tables_also_on_a_gpu():
    run = Releases(PLANTED)
    run.records = [
        replace(
            one,
            cell=replace(one.cell, device="gpu"),
            # With a cold cache, compilers try kernels, whose memory is not that of the steps.
            memory={"allocated_peak_bytes": 2**30 if one.round < 10 else 2**20},
            first_call_cache="cold" if one.round < 10 else "warm",
        )
        for one in run.records
    ]
    found = history(run)
    points = [point for course in found.of(Quantity.MEMORY) for point in course.points]
    assert points
    assert {point.value.value for point in points} == {2**20}
    assert [point.value.value for point in points] == [point.release.result.peak_bytes for point in points]


def test_an_import_belongs_to_an_environment_and_is_compared_once():
    found = history(Releases(PLANTED))
    assert len(found.of(Quantity.IMPORT)) == len(found.of(Quantity.DISK)) == 1
    assert len(found.of(Quantity.STEP)) == len(found.of(Quantity.MEMORY)) == 2


def test_one_cold_call_gives_a_ratio_and_no_verdict():
    found = history(Releases(PLANTED))
    point = found.of(Quantity.COLD_CALL)[0].points[1]
    assert point.before.ratio.estimate.value == pytest.approx(2.0, rel=0.1)
    assert (point.before.ratio.estimate.low, point.before.change) == (None, None)


def break_evens(found, workload, cache):
    """Return the steps after which each version leads the one before."""
    course = next(c for c in found.of(Quantity.STEP) if c.line.cell.workload == workload)
    return [found.break_even(point.release, point.before, cache) for point in course.points]


def test_a_longer_first_call_is_paid_for_after_its_seconds_over_the_saving():
    # 1.10.0 saves 0.8 of 4 ms and calls 0.3 s longer; its import takes as long.
    _first, found, *_later = break_evens(history(Releases(PLANTED)), "mlp-train", "warm")
    assert found.value == pytest.approx(375.0, rel=0.1)
    assert found.low < found.value < found.high
    assert found.high - found.low < 200.0


def test_a_longer_import_has_to_be_paid_for_too():
    # Saves a tenth of 4 ms; 1.11.0 imports half a second longer and calls 0.3 s sooner.
    run = Releases({"mlp-train": (1.0, 1.0, 0.9, 0.9)})
    assert break_evens(history(run), "mlp-train", "warm")[2].value == pytest.approx(0.2 / 0.4e-3, rel=0.2)


def test_slower_steps_never_pay_a_shorter_start_pays_at_once_and_equal_steps_have_no_number():
    first, same, slower, _faster = break_evens(history(Releases(PLANTED)), "gemm", "warm")
    assert (first, same) == (None, None)
    assert (slower.value, slower.low, slower.high) == (math.inf, math.inf, math.inf)
    run = Releases(PLANTED)
    run.change("2.0.0", first_call_s=0.1)
    assert break_evens(history(run), "gemm", "warm")[3].value == 0.0


def test_one_first_call_gives_a_break_even_without_an_interval():
    found = break_evens(history(Releases(PLANTED)), "mlp-train", "cold")[1]
    assert found.value == pytest.approx(375.0, rel=0.2)
    assert (found.low, found.high) == (None, None)


def test_imports_alone_are_never_compared_with_imports_beside_others():
    run = Releases(PLANTED)
    run.change("1.9.0", import_alone=True)
    course = history(run).of(Quantity.IMPORT)[0]
    assert [point.before is None for point in course.points] == [True, True, False, False]


def test_a_time_of_a_busy_machine_is_not_compared():
    run = Releases(PLANTED)
    run.change("1.10.0", other_load=1.5)
    point = history(run).of(Quantity.STEP)[0].points[1]
    assert (point.release.status, point.value, point.before) == ("busy", None, None)


def test_environments_with_tables_of_their_own_are_versions_of_their_framework():
    run = Releases(PLANTED)
    names = dict(zip(MEMBERS, ("old", "middle", "later", "new"), strict=True))
    run.records = [replace(r, cell=replace(r.cell, environment=names[r.cell.environment])) for r in run.records]
    run.run["planned"] = []
    lines = lines_of(analyse(run.records, run.manifest).results, {})
    assert {line.family for line in lines} == {"torch"}
    assert [one.environment for one in lines[0].releases] == ["old", "middle", "later", "new"]


def test_a_single_version_is_no_history():
    run = Releases(PLANTED)
    run.records = [r for r in run.records if r.cell.environment == "torch-1.9.0"]
    run.run["planned"] = []
    assert history(run).courses == ()


def test_every_mode_has_a_line_of_its_own():
    found = history(Releases({"gemm": (1.0, 1.0, 1.0, 1.0)}, modes=("eager", "compile")))
    assert [course.line.cell.mode for course in found.of(Quantity.STEP)] == ["eager", "compile"]
