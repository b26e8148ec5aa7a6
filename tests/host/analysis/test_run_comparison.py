"""Tests the comparison of two runs: what is compared, what is refused, and which verdicts there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.host.analysis.run_changes import changes
from bench.host.analysis.run_comparison import compare_runs
from bench.host.analysis.summaries import load, summarise
from bench.host.refusal import Refused
from bench.host.statistics.verdict import Verdict
from bench.host.storage import run_summary
from bench.record import FAILED

ROW = "mlp-train/small/float32/cpu"


def every(cell):
    return True


def changed_run(study, **changes):
    """Return the summary of a study as it is now, with other facts."""
    found = summarise(study.records, study.manifest)
    return replace(found, facts=found.facts.model_copy(update=changes))


def again(study, seed=11, spread=0.01):
    """Let every process of the study be a little faster or slower, as another run of it would be."""
    random = np.random.default_rng(seed)
    factors = {}
    study.change(
        sample_ns=lambda r: [
            round(ns * factors.setdefault((r.cell, r.round), random.lognormal(0, spread))) for ns in r.sample_ns
        ]
    )


def cell_of(comparison, name):
    return next(one for one in comparison.cells if one.after.name == name)


def test_a_planted_slowdown_of_one_environment_is_found_and_nothing_else(long_study):
    # The rounds of the study share their moods, which two runs would not.
    again(long_study, 1)
    before = summarise(long_study.records, long_study.manifest)
    again(long_study)
    long_study.slow("torch2:eager", "mlp-train", 1.5)
    after = summarise(long_study.records, long_study.manifest)
    found = compare_runs(before, after, every)
    different = {one.after.name for one in found.cells if one.verdict is Verdict.DIFFERENT}
    assert different == {f"torch2:eager {ROW}"}
    ratio = cell_of(found, f"torch2:eager {ROW}").ratio.estimate
    assert ratio.low < 1.5 < ratio.high
    assert found.cells[0].after.name == f"torch2:eager {ROW}"


def test_what_slows_all_cells_alike_cancels_in_the_ratios_to_the_baseline(long_study):
    before = summarise(long_study.records, long_study.manifest)
    again(long_study, spread=0.001)
    long_study.change(sample_ns=lambda r: [round(1.3 * ns) for ns in r.sample_ns])
    after = summarise(long_study.records, long_study.manifest)
    times = compare_runs(before, after, every)
    assert cell_of(times, f"jax:jit {ROW}").ratio.estimate.value == pytest.approx(1.3, rel=0.05)
    relative = compare_runs(before, after, every, relative=True)
    assert cell_of(relative, f"jax:jit {ROW}").ratio.estimate.value == pytest.approx(1.0, rel=0.01)
    assert not [one for one in relative.cells if one.after.column == "torch1:eager"]


def test_where_the_machine_may_have_changed_the_middle_of_all_ratios_is_told(long_study):
    """All cells became slower alike, and no environment shows by itself how much of that is the machine's."""
    again(long_study, 1)
    before = changed_run(long_study, machine={"system": "Linux 6.18"})
    again(long_study)
    long_study.change(sample_ns=lambda r: [round(1.3 * ns) for ns in r.sample_ns])
    after = changed_run(long_study, machine={"system": "Linux 6.19"})
    assert compare_runs(before, after, every).moved == pytest.approx(1.3, rel=0.05)
    assert compare_runs(before, after, every, relative=True).moved is None
    same = changed_run(long_study, machine={"system": "Linux 6.18"})
    assert compare_runs(before, same, every).moved is None, "unchanged environments show it"
    assert compare_runs(after, after, every).moved is None, "nothing is called slower"


@pytest.mark.parametrize(
    ("after", "told"), [(25276510208, []), (33 << 30, [("machine: memory", "23.5 GiB", "33.0 GiB")])]
)
def test_a_kernel_that_keeps_some_kilobytes_more_is_no_other_machine(long_study, after, told):
    before, later = (changed_run(long_study, machine={"memory_bytes": size}) for size in (25276502016, after))
    assert list(changes(before, later)) == told
    found = compare_runs(before, later, every)
    assert {one.unchanged for one in found.cells} == {not told}
    assert (found.controls is None) is bool(told)


def test_ratios_to_different_baselines_are_not_compared(long_study):
    """The same records, over another baseline, were called slower by 82 %."""
    manifests = (long_study.manifest.with_baseline(to) for to in ("torch1:eager", "jax:jit"))
    one, other = (summarise(long_study.records, described) for described in manifests)
    found = compare_runs(one, other, every, relative=True)
    assert not found.cells
    assert {each.why for each in found.uncompared} == {"its ratio is to another baseline: torch1:eager, jax:jit"}
    assert len(compare_runs(one, other, every).cells) == len(one.cells), "times have no baseline"


def test_ratios_to_a_disturbed_time_are_not_compared(long_study):
    before = summarise(long_study.records, long_study.manifest)
    long_study.change("torch1:eager", "mlp-train", other_load=0.9)
    found = compare_runs(before, summarise(long_study.records, long_study.manifest), every, relative=True)
    assert {one.after.workload for one in found.cells} == {"dispatch", "catdog-cnn-train"}
    assert {one.why for one in found.uncompared} == {"other programs disturbed what its ratio is to"}


def test_ratios_to_the_best_are_compared_where_it_is_the_same_column(long_study):
    described = long_study.manifest.with_baseline("best")
    before = summarise(long_study.records, described)
    long_study.slow("jax:jit", "mlp-train", 5.0)
    after = summarise(long_study.records, described)
    found = compare_runs(before, after, every, relative=True)
    assert {one.after.workload for one in found.cells} == {"dispatch", "catdog-cnn-train"}
    why = {each.name: each.why for each in found.uncompared}
    assert why[f"torch1:eager {ROW}"] == "its ratio is to another baseline: jax:jit, torch2:compile"


def test_unpaired_intervals_are_wider_than_paired_ones(long_study):
    found = compare_runs(*[summarise(long_study.records, long_study.manifest)] * 2, every)
    relative = compare_runs(*[summarise(long_study.records, long_study.manifest)] * 2, every, relative=True)
    name = f"jax:jit {ROW}"
    unpaired, paired = (cell_of(one, name).ratio.estimate for one in (found, relative))
    assert unpaired.high / unpaired.low > paired.high / paired.low


def test_what_changed_between_the_runs_is_named(long_study):
    before = changed_run(long_study, machine={"processor": "A", "driver": "550"}, seed=1)
    long_study.change(
        "torch2:eager",
        settings=lambda r: {**r.settings, "allocator": "other"},
        versions=lambda r: {**r.versions, "torch": "2.16.0"},
    )
    after = changed_run(
        long_study,
        machine={"processor": "A", "driver": "560"},
        environments={"torch1": {"python": "3.11.7"}},
        profile="standard",
    )
    found = {what: (old, new) for what, old, new in compare_runs(before, after, every).changed}
    assert found["machine: driver"] == ("550", "560")
    assert found["profile"] == ("quick", "standard")
    assert found["seed"] == ("1", "0")
    assert found["torch1: python"] == ("none", "3.11.7")


def test_a_workload_whose_code_changed_is_named_with_its_environments(long_study):
    """Nobody was told of it, although it is what a slowdown of one's own workload comes from most of the time."""
    code = {"torch1/mlp-train": "aaaa", "torch2/mlp-train": "aaaa", "jax/mlp-train": "bbbb", "jax/dispatch": "cccc"}
    before = changed_run(long_study, programs=code)
    edited = {**code, "torch1/mlp-train": "dddd", "torch2/mlp-train": "dddd", "tf2/mlp-train": "eeee"}
    after = changed_run(long_study, programs=edited)
    assert list(changes(before, after)) == [("code of mlp-train in torch1, torch2", "aaaa", "dddd")]
    assert list(changes(before, changed_run(long_study, programs={}))) == []
    unchanged = {one.after.column for one in compare_runs(before, after, every).cells if one.unchanged}
    assert "torch2:eager" in {one.after.column for one in compare_runs(before, before, every).cells if one.unchanged}
    assert not any(
        one.unchanged
        for one in compare_runs(before, after, every).cells
        if one.after.environment == "torch2" and one.after.workload == "mlp-train"
    )
    assert "jax:jit" in unchanged


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (
            lambda study: study.end("torch2:eager", "mlp-train", FAILED, "measure", "no memory"),
            "second run: failed: no",
        ),
        (lambda study: study.exclude("torch2:eager", "mlp-train", "out"), "not in the second run"),
        (
            lambda study: study.change("torch2:eager", "mlp-train", settings={"threads": 2, "TF32 matmul": True}),
            "TF32 matmul differs: False, True",
        ),
        (
            lambda study: study.change("torch2:eager", "mlp-train", work={"useful_flops": 2e8, "items": 64}),
            "useful_flops differs",
        ),
        (lambda study: study.change("torch2:eager", "mlp-train", data="photographs"), "data differs"),
        (lambda study: study.run.update(seed=4), "seed of the data differs: 0, 4"),
    ],
)
def test_what_is_not_comparable_has_no_ratio_and_a_reason(long_study, prepare, why):
    long_study.change("torch2:eager", "mlp-train", settings={"threads": 2, "TF32 matmul": False})
    before = summarise(long_study.records, long_study.manifest)
    prepare(long_study)
    found = compare_runs(before, summarise(long_study.records, long_study.manifest), every)
    name = f"torch2:eager {ROW}"
    assert name not in {one.after.name for one in found.cells}
    assert why in next(one.why for one in found.uncompared if one.name == name)


def test_another_number_of_threads_is_named_with_what_to_do(long_study):
    before = summarise(long_study.records, long_study.manifest)
    cells = tuple(cell.model_copy(update={"threads": 4}) for cell in before.cells)
    found = compare_runs(before, replace(before, cells=cells), every)
    assert not found.cells
    assert found.uncompared[0].why == "threads differ: 2, and 4 in the second run; measure both with one number"


def test_a_cell_that_is_lost_is_marked(long_study):
    before = summarise(long_study.records, long_study.manifest)
    long_study.end("torch2:eager", "mlp-train", FAILED, "measure", "no memory")
    after = summarise(long_study.records, long_study.manifest)
    assert [one.lost for one in compare_runs(before, after, every).uncompared] == [True]
    assert [one.lost for one in compare_runs(after, before, every).uncompared] == [False]


def test_what_unchanged_environments_show_is_no_difference_of_the_others(long_study):
    """All cells became 10 % slower; only torch2 has another version, which therefore is not to blame."""
    again(long_study, 1)
    before = summarise(long_study.records, long_study.manifest)
    again(long_study)
    long_study.change(sample_ns=lambda r: [round(1.1 * ns) for ns in r.sample_ns])
    long_study.change("torch2:eager", versions={"torch": "2.16.0"})
    found = compare_runs(before, summarise(long_study.records, long_study.manifest), every)
    low, middle, high = found.controls
    assert low < middle < high
    assert middle == pytest.approx(1.1, rel=0.05)
    within = [one for one in found.cells if not one.unchanged and one.ratio.estimate.value <= high]
    assert within
    assert all(one.ratio.deciding[0] > 1.0 and one.verdict is not Verdict.DIFFERENT for one in within)


def test_what_did_not_move_with_the_unchanged_environments_is_not_called_the_same(long_study):
    """The day made everything 10 % faster, and a new version made torch2 as much slower."""
    again(long_study, 1, spread=0.001)
    long_study.change(sample_ns=lambda r: [round(ns / long_study.moods[r.round]) for ns in r.sample_ns])
    before = summarise(long_study.records, long_study.manifest)
    again(long_study, spread=0.001)
    name = f"torch2:eager {ROW}"
    # Nothing else moved, so it is the same.
    long_study.change("torch2:eager", versions={"torch": "2.16.0"})
    found = compare_runs(before, summarise(long_study.records, long_study.manifest), every)
    assert cell_of(found, name).verdict is Verdict.EQUIVALENT
    for column in {cell.column for cell in long_study.cells} - {"torch2:eager"}:
        long_study.change(column, sample_ns=lambda r: [round(0.9 * ns) for ns in r.sample_ns])
    found = compare_runs(before, summarise(long_study.records, long_study.manifest), every)
    assert found.controls[1] == pytest.approx(0.9, rel=0.05)
    assert not cell_of(found, name).unchanged
    assert cell_of(found, name).ratio.estimate.value == pytest.approx(1.0, abs=0.01)
    assert cell_of(found, name).verdict is Verdict.INCONCLUSIVE


def test_a_run_of_few_rounds_gets_intervals_and_no_verdicts(short_study):
    found = compare_runs(*[summarise(short_study.records, short_study.manifest)] * 2, every)
    assert found.cells
    assert {one.verdict for one in found.cells} == {None}


def test_a_stored_summary_is_the_summary(long_study, tmp_path):
    summary = summarise(long_study.records, long_study.manifest)
    assert run_summary.read(run_summary.write(tmp_path, summary)) == summary


def test_a_folder_without_a_run_says_what_to_name(tmp_path):
    with pytest.raises(Refused, match=r"holds no run\. Name a folder"):
        load(tmp_path)
