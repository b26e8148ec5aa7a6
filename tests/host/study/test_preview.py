"""Tests the preview of a plan: its cells, what is left out and why, and the estimated time."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from example_study import plan_of, study, with_threads

from bench.host.analysis.plan_time import FORK_S, START_S, estimate_s
from bench.host.reporting.preview import preview
from bench.host.storage.manifest import Manifest, ProfileSummary, SpentSeconds
from bench.host.study.selection import Selection, select


def test_the_preview_says_that_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.host.reporting.preview.facts.gpus", list)
    said = "This machine shows no NVIDIA GPU: 4 cells for device gpu will be unsupported; --device cpu measures here."
    assert said in preview(select(with_threads(1), Selection(devices=["gpu", "cpu"]))).splitlines()
    assert "GPU" not in preview(select(with_threads(1), Selection()))
    monkeypatch.setattr("bench.host.reporting.preview.facts.gpus", lambda: [{"name": "GPU"}])
    assert "GPU" not in preview(select(with_threads(1), Selection(devices=["gpu"])))


def test_the_preview_shows_every_cell_with_its_reason_and_the_sampling() -> None:
    rules = [{"mode": "compile", "reason": "not today"}]
    text = preview(select(study(exclusions=rules), Selection()))
    row = next(line for line in text.splitlines() if line.startswith("mlp-train/tiny/float32/cpu"))
    assert row.split()[1:] == ["run", "run", "run", "[1]"]
    assert "[1] not today" in text
    assert "6 cells in 2 rows and 4 columns, 2 left out; 3 threads." in text
    assert "3 rounds of fresh processes, 10 samples of 0.01 s per cell and round" in text


def test_a_preview_that_is_wider_than_the_screen_lists_rows_and_columns() -> None:
    rules = [{"mode": "compile", "reason": "not today"}]
    plan = select(study(exclusions=rules), Selection())
    lines = preview(plan, width=60).splitlines()
    assert max(map(len, lines[: lines.index("[1] not today")])) <= 60
    told = {line.split()[0]: line.split()[1:] for line in lines if "  " in line.strip()}
    assert told["mlp-train/tiny/float32/cpu"] == ["3", "1:", "[1]"]
    assert told["new:compile"] == ["0", "2:", "[1]"]
    assert told["old:eager"] == ["2"]
    assert preview(plan, width=500) == preview(plan)


def test_the_columns_of_an_environment_stand_together() -> None:
    plan = select(study(), Selection())
    names = [cell.column for cell in plan.cells]
    apart = replace(plan, cells=sorted(plan.cells, key=lambda cell: (cell.mode, cell.environment)))
    assert names != [cell.column for cell in apart.cells]
    environments = preview(apart).splitlines()[0].split()
    assert environments == sorted(environments, key=environments.index)


def test_the_preview_says_that_rounds_may_become_more() -> None:
    profiles = {"quick": {"rounds": 9, "most_rounds": 30, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    text = preview(select(study(profiles=profiles), Selection()))
    assert "Profile quick: 9 to 30 rounds, until every verdict is settled, of fresh processes, 1 sample of" in text


def test_the_preview_says_what_a_twin_is() -> None:
    profiles = {"quick": {"rounds": 9, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    said = "~twin: the same cells once more; their differences are the noise of the run."
    assert said not in preview(select(study(profiles=profiles), Selection()))
    profiles["quick"]["twin"] = True
    assert said in preview(select(study(profiles=profiles), Selection())).splitlines()


def test_the_preview_keeps_the_rows_of_a_workload_together() -> None:
    text = preview(plan_of("--size", "tiny,small", "--precision", "float32,float64"))
    rows = [line.partition("/")[0] for line in text.splitlines() if "/cpu" in line]
    assert rows == ["transformer-encoder"] * 4 + ["mlp-train"] * 4


def test_the_preview_of_an_empty_plan_says_why() -> None:
    first, second = preview(plan_of("--mode", "compile")).splitlines()
    assert first.startswith("Nothing to measure")
    assert second.startswith("--mode: no chosen environment lists 'compile': old lists eager, torchscript")


def test_a_mode_that_no_chosen_environment_lists_is_said_beside_those_that_are_measured() -> None:
    text = preview(plan_of("--mode", "compile,eager"))
    assert "--mode: no chosen environment lists 'compile'" in text
    assert "no chosen environment lists" not in preview(plan_of("--mode", "eager"))


def test_the_estimate_grows_with_rounds_samples_and_cells() -> None:
    plan = select(study(), Selection())
    assert estimate_s(plan) > len(plan.cells) * plan.profile.rounds * FORK_S
    own = plan.profile.model_copy(update={"workers": "own"})
    assert estimate_s(replace(plan, profile=own)) > len(plan.cells) * plan.profile.rounds * START_S > estimate_s(plan)
    for change in ({"rounds": 6}, {"samples": 1000}, {"sample_seconds": 1.0}):
        assert estimate_s(replace(plan, profile=plan.profile.model_copy(update=change))) > estimate_s(plan)
    assert estimate_s(replace(plan, cells=plan.cells[:4])) == pytest.approx(estimate_s(plan) / 2)
    assert re.search(r"About (\d+ min )?\d+ s, environments not included", preview(plan))
    assert "At most 1 s, environments not included; the whole plan takes about" in preview(replace(plan, budget_s=1.0))


def test_code_is_compiled_once_where_it_is_kept_and_in_every_round_otherwise() -> None:
    plan = select(study(), Selection())
    compile_s = sum(plan.registry.facts(cell.framework).mode(cell.mode).compile_s for cell in plan.cells)
    cold, plan = (
        replace(plan, profile=plan.profile.model_copy(update={"compile_cache": cache})) for cache in ("cold", "kept")
    )
    assert estimate_s(cold) - estimate_s(plan) == pytest.approx((plan.profile.rounds - 1) * compile_s)
    assert compile_s > 1
    assert f"A repetition saves {compile_s:g} s of compiling." in preview(plan)
    assert "A repetition saves" not in preview(cold)


def test_a_finished_run_of_the_same_cells_and_profile_tells_how_long_it_takes() -> None:
    sampling = {"rounds": 3, "samples": 1, "sample_seconds": 0.1}
    profile = {**sampling, "sizes": ["tiny"], "sizes_of": {"mlp-train": ["small"]}}
    plan = select(study(profiles={"quick": profile}), Selection())
    before = Manifest(planned=plan.cells, profile=ProfileSummary.of(plan.profile), seconds=SpentSeconds(elapsed=83.0))
    # As it is read from a file.
    before = Manifest.from_json(json.loads(json.dumps(before.to_json())))
    assert estimate_s(plan, before) == 83.0
    assert "About 1 min 23 s: the last run of these cells took that long." in preview(plan, before)
    others = (
        replace(before, finished=False),
        replace(before, budget_s=60.0),
        replace(before, planned=before.planned[:-1]),
        replace(before, profile=before.profile.model_copy(update={"rounds": 1})),
        replace(before, seconds=SpentSeconds()),
    )
    for other in others:
        assert estimate_s(plan, other) == estimate_s(plan)
        assert "environments not included" in preview(plan, other)
