"""A selection: what is measured, what is left out and why; together they are everything that was chosen."""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import DEVICES, PRECISIONS, Cell
from bench.host.machine.processors import physical_cores
from bench.host.reporting.preview import FORK_S, START_S, estimate_s, preview
from bench.host.study import selection, study_file
from bench.host.study.plan import Plan
from bench.host.study.schema import Study
from bench.host.study.selection import Selection, select
from bench.host.study.study_file import StudyError
from bench.registry import BENCH, BUILT_IN, Registry, Source

MLP_SIZES = list(BUILT_IN.specification("mlp-train").SIZES)
ENVIRONMENTS = {
    "old": ("torch", ["eager", "torchscript"]),
    "new": ("torch", ["eager", "compile"]),
    "tf": ("tensorflow", ["eager", "function"]),
    "jax": ("jax", ["eager", "jit"]),
}
ALL = Selection(environments=["*"])


def study(**changes: Any) -> Study:
    tables: dict[str, Any] = {
        "study": {
            "name": "example",
            "baseline": "old:eager",
            "default": ["old", "new"],
            "profile": "quick",
            "seed": 7,
            "threads": 3,
        },
        "environments": {
            name: {"framework": framework, "modes": modes, "provider": "existing", "interpreter": "python3"}
            for name, (framework, modes) in ENVIRONMENTS.items()
        },
        "workloads": {"transformer-encoder": {}, "mlp-train": {}},
        "profiles": {
            "quick": {"rounds": 3, "samples": 10, "sample_seconds": 0.01, "sizes": ["tiny"]},
            "long": {"rounds": 10, "samples": 20, "sample_seconds": 0.1, "sizes": ["small", "tiny"]},
        },
        "exclusions": [],
    }
    return study_file.parse({**tables, **changes})


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    selection.add_arguments(parser)
    return parser.parse_args(arguments)


def plan_of(*arguments: str, environments: tuple[str, ...] = ("old", "jax")) -> Plan:
    return selection.from_options(study(), options(*arguments), environments=environments)


def everything(plan: Plan) -> list[Cell]:
    return [*plan.cells, *(cell for cell, _ in plan.excluded)]


def reasons(plan: Plan) -> set[str]:
    return {reason for _, reason in plan.excluded}


def test_nothing_chosen_is_the_study_with_its_own_profile() -> None:
    plan = select(study(), Selection())
    assert plan.excluded == ()
    assert (plan.profile.name, plan.seed, plan.threads) == ("quick", 7, 3)
    assert list(dict.fromkeys(cell.column for cell in plan.cells)) == [
        "old:eager",
        "old:torchscript",
        "new:eager",
        "new:compile",
    ]
    assert {cell.framework for cell in plan.cells} == {"torch"}


def test_cells_come_by_row_then_column_in_the_order_of_the_study() -> None:
    plan = select(study(), replace(ALL, profile="long"))
    rows = list(dict.fromkeys(cell.row for cell in plan.cells))
    columns = list(dict.fromkeys(cell.column for cell in plan.cells))
    assert rows == [
        "transformer-encoder/small/float32/cpu",
        "transformer-encoder/tiny/float32/cpu",
        "mlp-train/small/float32/cpu",
        "mlp-train/tiny/float32/cpu",
    ]
    assert columns == [f"{name}:{mode}" for name, (_, modes) in ENVIRONMENTS.items() for mode in modes]
    assert [(cell.row, cell.column) for cell in plan.cells] == list(itertools.product(rows, columns))


def test_the_options_choose_by_patterns_separated_or_repeated() -> None:
    plan = plan_of("--workload", "mlp-*", "--mode", "jit,eag*", "--size", "check", "--size", "small", "--threads", "2")
    assert {cell.column for cell in plan.cells} == {"old:eager", "jax:eager", "jax:jit"}
    assert {(cell.workload, cell.size, cell.threads) for cell in plan.cells} == {
        ("mlp-train", "check", 2),
        ("mlp-train", "small", 2),
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workload", "mpl-*"], "--workload: unknown workload 'mpl-*'; did you mean 'mlp-train'?"),
        (["--mode", "eagr"], "--mode: unknown mode 'eagr'; did you mean 'eager'? Known: eager, torchscript, compile"),
        (["--size", "smal"], "--size: unknown size 'smal'; did you mean 'small'?"),
        (
            ["--precision", "float23"],
            "--precision: unknown precision 'float23'; did you mean 'float32'? Known: float32",
        ),
        (["--device", "gpuu"], "--device: unknown device 'gpuu'; did you mean 'gpu'? Known: cpu, gpu."),
        (
            ["--workload", "lenet-train"],
            "--workload: bench/workloads/lenet_train/ exists; add [workloads.lenet-train] to the study file.",
        ),
        (["--profile", "quik"], "--profile: unknown profile 'quik'; did you mean 'quick'? Known: quick, long."),
    ],
)
def test_a_pattern_that_matches_nothing_is_an_error(arguments: list[str], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        plan_of(*arguments)
    (error,) = caught.value.errors
    assert error.startswith(said)


def test_all_errors_of_a_selection_come_at_once() -> None:
    with pytest.raises(StudyError) as caught:
        plan_of("--size", "x,small,y", "--profile", "z", environments=("odl",))
    assert [error.partition(":")[0] for error in caught.value.errors] == [
        "--environment",
        "--size",
        "--size",
        "--profile",
    ]


def test_a_mode_that_other_environments_have_leaves_nothing_and_is_no_error() -> None:
    assert everything(plan_of("--mode", "compile")) == []


def test_a_precision_without_specification_is_left_out_with_the_reason() -> None:
    plan = plan_of("--workload", "mlp-train", "--precision", "float32,float16")
    assert {cell.precision for cell in plan.cells} == {"float32"}
    assert {cell.precision for cell, _ in plan.excluded} == {"float16"}
    assert reasons(plan) == {"mlp-train is not specified for float16"}


def test_a_size_that_a_workload_lacks_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    specification = BUILT_IN.specification("transformer-encoder")
    monkeypatch.setattr(specification, "SIZES", {"tiny": specification.SIZES["tiny"]})
    plan = plan_of("--size", "small")
    assert {cell.workload for cell in plan.cells} == {"mlp-train"}
    assert reasons(plan) == {"transformer-encoder has no size 'small'"}


def test_declared_sizes_limit_a_profile_but_not_the_command_line() -> None:
    limited = study(workloads={"mlp-train": {"sizes": ["small"]}})
    assert reasons(select(limited, Selection(profile="long"))) == {"the study takes mlp-train at small only"}
    assert {cell.size for cell in select(limited, Selection(sizes=["check"])).cells} == {"check"}


def test_a_missing_implementation_is_left_out_with_the_reason(tmp_path: Path) -> None:
    for folder in ("frameworks", "workloads"):
        shutil.copytree(Path(BENCH.folder, folder), tmp_path / folder)
    for name in ("tensorflow.py", "jax.py"):
        (tmp_path / "workloads" / "mlp_train" / name).unlink()
    chosen = study(workloads={"mlp-train": {}}).with_registry(Registry((Source("bench", str(tmp_path)),)))
    plan = select(chosen, ALL)
    assert {cell.framework for cell in plan.cells} == {"torch"}
    assert reasons(plan) == {
        f"workload mlp-train has no {framework} implementation" for framework in ("tensorflow", "jax")
    }


def test_an_exclusion_takes_the_cells_that_match_all_of_its_patterns() -> None:
    rules = [
        {"environment": "n*", "mode": "compile", "workload": "mlp-*", "reason": "first"},
        {"framework": "torch", "mode": "comp*", "reason": "second"},
    ]
    plan = select(study(exclusions=rules), ALL)
    assert {(cell.column, cell.workload, reason) for cell, reason in plan.excluded} == {
        ("new:compile", "mlp-train", "first"),
        ("new:compile", "transformer-encoder", "second"),
    }


def test_an_exclusion_can_be_of_workloads_that_train_or_do_not() -> None:
    for training, left_out in ((True, "mlp-train"), (False, "transformer-encoder")):
        plan = select(study(exclusions=[{"mode": "*", "training": training, "reason": "so"}]), ALL)
        assert {cell.workload for cell, _ in plan.excluded} == {left_out}


def test_the_shipped_study_leaves_no_workload_out() -> None:
    shipped = study_file.load(Path(__file__).resolve().parents[3] / "matrix.toml")
    for profile in ("check", "quick", "standard"):
        plan = select(shipped, Selection(profile=profile))
        assert {cell.mode for cell, _ in plan.excluded} == {"compile-step"}
        assert {cell.workload for cell in plan.cells} == set(shipped.workloads)


def test_only_calls_are_measured_at_a_size_in_which_calls_count() -> None:
    plan = select(study_file.load(Path(__file__).resolve().parents[3] / "matrix.toml"), Selection(profile="quick"))
    assert {cell.workload for cell in plan.cells if cell.threads == 1} == {"dispatch"}


def chosen_from(names: list[str] | tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([*names, *(f"{name[:2]}*" for name in names), "*"]), max_size=3)


def matching(names: list[str] | tuple[str, ...], patterns: list[str], default: list[str]) -> list[str]:
    return [name for name in names if any(fnmatchcase(name, p) for p in patterns)] if patterns else default


@given(st.data())
def test_a_selection_never_loses_a_cell(data: st.DataObject) -> None:
    names = list(ENVIRONMENTS)
    rules = data.draw(
        st.lists(st.fixed_dictionaries({"environment": st.sampled_from(names), "reason": st.just("so")}), max_size=2)
    )
    example = study(exclusions=rules)
    environments = data.draw(chosen_from(names))
    taken = data.draw(chosen_from(["mlp-train", "transformer-encoder"]))
    sizes = data.draw(chosen_from(MLP_SIZES))
    precisions = data.draw(st.lists(st.sampled_from(PRECISIONS), max_size=2))
    devices = data.draw(chosen_from(DEVICES))
    modes = data.draw(st.lists(st.sampled_from(["eager", "jit", "comp*", "*"]), max_size=2))
    plan = select(
        example,
        Selection(
            environments=environments, modes=modes, workloads=taken, sizes=sizes, precisions=precisions, devices=devices
        ),
    )
    known_sizes = dict.fromkeys(s for w in example.workloads for s in BUILT_IN.specification(w).SIZES)
    product = {
        (environment, mode, workload, size, precision, device)
        for environment in matching(names, environments, ["old", "new"])
        for mode in ENVIRONMENTS[environment][1]
        if not modes or any(fnmatchcase(mode, pattern) for pattern in modes)
        for workload in matching(list(example.workloads), taken, list(example.workloads))
        for size in matching(list(known_sizes), sizes, ["tiny"])
        for precision in matching(PRECISIONS, precisions, ["float32"])
        for device in matching(DEVICES, devices, ["cpu"])
    }
    cells = everything(plan)
    assert len(cells) == len(set(cells)) == len(product)
    assert {(c.environment, c.mode, c.workload, c.size, c.precision, c.device) for c in cells} == product
    assert all(reason for _, reason in plan.excluded)


def test_interpreters_of_the_command_line_replace_those_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACK", "/opt/stack")
    replaced = selection.with_interpreters(study(), options("--interpreter", "jax=$STACK/bin/python=3"))
    assert replaced.environments["jax"].interpreter == "/opt/stack/bin/python=3"
    assert replaced.environments["old"].interpreter == "python3"
    with pytest.raises(StudyError, match=r"--interpreter: unknown environment 'jx'; did you mean 'jax'\?"):
        selection.with_interpreters(study(), options("--interpreter", "jx=python3"))


def test_all_threads_are_the_physical_cores_available() -> None:
    assert plan_of("--threads", "all").threads == physical_cores()


def with_threads(threads: Any, workload: Any = None) -> Study:
    settings = {"name": "example", "baseline": "old:eager", "default": ["old"], "profile": "quick", "threads": threads}
    own = {} if workload is None else {"threads": workload}
    return study(study=settings, workloads={"transformer-encoder": {}, "mlp-train": own})


def rows(plan: Plan) -> dict[str, int]:
    return {cell.row: cell.threads for cell in plan.cells}


def test_each_number_of_threads_is_a_row() -> None:
    assert rows(select(with_threads([1, 3]), Selection())) == {
        "transformer-encoder/tiny/float32/cpu/1-thread": 1,
        "transformer-encoder/tiny/float32/cpu/3-threads": 3,
        "mlp-train/tiny/float32/cpu/1-thread": 1,
        "mlp-train/tiny/float32/cpu/3-threads": 3,
    }


def test_one_number_of_threads_is_in_no_row_name() -> None:
    plan = select(with_threads([2], workload=1), Selection())
    assert rows(plan) == {"transformer-encoder/tiny/float32/cpu": 2, "mlp-train/tiny/float32/cpu": 1}
    assert plan.threads == 2


def test_all_and_one_are_one_row_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "physical_cores", lambda: 1)
    plan = select(with_threads([1, "all"]), Selection())
    assert rows(plan) == {"transformer-encoder/tiny/float32/cpu": 1, "mlp-train/tiny/float32/cpu": 1}


def test_the_threads_of_the_command_line_are_those_of_every_workload() -> None:
    plan = selection.from_options(with_threads(1, workload=[1, 3]), options("--threads", "2,4"), environments=["old"])
    assert sorted(rows(plan).values()) == [2, 2, 4, 4]


def test_the_preview_names_the_threads_and_those_that_share_processors() -> None:
    text = preview(select(with_threads([1, 999]), Selection()))
    assert "8 cells in 4 rows and 2 columns, 0 left out; 1 thread · 999 threads." in text
    assert re.search(r"999 threads will share \d+ processors?; give --threads all for one thread per core\.", text)


def test_the_preview_says_that_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.host.reporting.preview.facts.gpus", list)
    said = "This machine shows no NVIDIA GPU: 4 cells for device gpu will be unsupported; --device cpu measures here."
    assert said in preview(select(with_threads(1), Selection(devices=["gpu", "cpu"]))).splitlines()
    assert "GPU" not in preview(select(with_threads(1), Selection()))
    monkeypatch.setattr("bench.host.reporting.preview.facts.gpus", lambda: [{"name": "GPU"}])
    assert "GPU" not in preview(select(with_threads(1), Selection(devices=["gpu"])))


def test_a_profile_can_give_a_workload_other_sizes() -> None:
    quick = {
        "rounds": 3,
        "samples": 10,
        "sample_seconds": 0.01,
        "sizes": ["tiny"],
        "sizes_of": {"mlp-train": ["small"]},
    }
    found = study(profiles={"quick": quick})
    assert list(rows(select(found, Selection()))) == [
        "transformer-encoder/tiny/float32/cpu",
        "mlp-train/small/float32/cpu",
    ]
    chosen = select(found, Selection(sizes=["tiny"]))
    assert [row.split("/")[1] for row in rows(chosen)] == ["tiny", "tiny"], "--size goes before the profile"


def test_the_preview_shows_every_cell_with_its_reason_and_the_sampling() -> None:
    rules = [{"mode": "compile", "reason": "not today"}]
    text = preview(select(study(exclusions=rules), Selection()))
    row = next(line for line in text.splitlines() if line.startswith("mlp-train/tiny/float32/cpu"))
    assert row.split()[1:] == ["run", "run", "run", "[1]"]
    assert "[1] not today" in text
    assert "6 cells in 2 rows and 4 columns, 2 left out; 3 threads." in text
    assert "3 rounds of fresh processes, 10 samples of 0.01 s per cell and round" in text


def test_the_preview_says_that_rounds_may_become_more() -> None:
    profiles = {"quick": {"rounds": 9, "most_rounds": 30, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    text = preview(select(study(profiles=profiles), Selection()))
    assert "Profile quick: 9 to 30 rounds, until every verdict is settled, of fresh processes, 1 sample of" in text


def test_the_preview_keeps_the_rows_of_a_workload_together() -> None:
    text = preview(plan_of("--size", "tiny,small", "--precision", "float32,float64"))
    rows = [line.partition("/")[0] for line in text.splitlines() if "/cpu" in line]
    assert rows == ["transformer-encoder"] * 4 + ["mlp-train"] * 4


def test_the_preview_of_an_empty_plan_says_why() -> None:
    assert preview(plan_of("--mode", "compile")).startswith("Nothing to measure")


def test_the_estimate_grows_with_rounds_samples_and_cells() -> None:
    plan = select(study(), Selection())
    assert estimate_s(plan) > len(plan.cells) * plan.profile.rounds * FORK_S
    own = plan.profile.model_copy(update={"workers": "own"})
    assert estimate_s(replace(plan, profile=own)) > len(plan.cells) * plan.profile.rounds * START_S > estimate_s(plan)
    for change in ({"rounds": 6}, {"samples": 1000}, {"sample_seconds": 1.0}):
        assert estimate_s(replace(plan, profile=plan.profile.model_copy(update=change))) > estimate_s(plan)
    assert estimate_s(replace(plan, cells=plan.cells[:4])) == pytest.approx(estimate_s(plan) / 2)
    assert re.search(r"About (\d+ min )?\d+ s, environments not included", preview(plan))


def test_a_profile_with_a_twin_measures_the_baseline_twice() -> None:
    profiles = {"quick": {"rounds": 10, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"], "twin": True}}
    plan = select(study(profiles=profiles), Selection(environments=["old", "jax"]))
    twins = [cell for cell in plan.cells if cell.environment == "old~twin"]
    assert {cell.mode for cell in twins} == {"eager"}
    assert len(twins) == len({cell.row for cell in plan.cells})
    assert not any(cell.environment == "old~twin" for cell in plan_of().cells)
    assert any(cell.environment == "old~twin" for cell in plan_of("--budget", "10m").cells)


def test_the_looks_follow_the_profile_and_a_budget_makes_room_for_more() -> None:
    assert plan_of().looks == (3,)
    first, *_, last = plan_of("--budget", "10m").looks
    assert (first, last) == (10, 20)
    profiles = {"quick": {"rounds": 10, "most_rounds": 30, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    looks = select(study(profiles=profiles), ALL).looks
    assert 10 <= looks[0] < looks[-1] == 30
    assert 2 < len(looks) < 6


def test_a_budget_and_a_cap_reach_the_plan() -> None:
    plan = plan_of("--budget", "10m", "--largest-batch", "2GiB")
    assert (plan.budget_s, plan.memory_cap_bytes) == (600.0, 2 << 30)
    assert (plan_of().budget_s, plan_of().memory_cap_bytes) == (None, None)


def test_strictness_is_off_unless_asked_for() -> None:
    assert (plan_of().strict, plan_of("--strict").strict) == (False, True)


def test_fewer_rounds_at_most_than_at_first_is_a_mistake() -> None:
    profiles = {"quick": {"rounds": 9, "most_rounds": 3, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    with pytest.raises(StudyError, match="most_rounds: 3 is less than rounds = 9"):
        study(profiles=profiles)
