"""A selection: what is measured, what is left out and why; together they are everything that was chosen."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from example_study import ALL, ENVIRONMENTS, MLP_SIZES, everything, plan_of, reasons, study
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import DEVICES, PRECISIONS
from bench.host.study import selection, study_file
from bench.host.study.location import StudyError
from bench.host.study.selection import Selection, select
from bench.registry import BENCH, BUILT_IN, Registry, Source

ROOT = Path(__file__).resolve().parents[3]


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


def test_a_cell_has_as_many_devices_as_its_mode_divides_steps_between() -> None:
    plan = select(study_file.load(ROOT / "studies" / "full.toml"), Selection(modes=("ddp", "jit", "shard-map")))
    assert {(cell.mode, cell.devices) for cell in plan.cells} == {("ddp", 2), ("jit", 1), ("shard-map", 2)}


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


def test_tf32_has_rows_of_its_own_for_inference_and_none_for_training() -> None:
    plan = plan_of("--workload", "mlp-train,transformer-encoder", "--precision", "float32,tf32", "--device", "gpu")
    rows = {cell.row for cell in plan.cells if cell.workload == "transformer-encoder"}
    assert {row.split("/")[2] for row in rows} == {"float32", "tf32"}
    assert reasons(plan) == {"mlp-train is not specified for tf32"}


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


def test_an_exclusion_can_be_of_all_others() -> None:
    plan = select(study(exclusions=[{"workload": "!mlp-*", "reason": "so"}]), ALL)
    assert {cell.workload for cell, _ in plan.excluded} == {"transformer-encoder"}
    with pytest.raises(StudyError, match="mlq"):
        study(exclusions=[{"workload": "!mlq-*", "reason": "so"}])


def test_an_exclusion_can_be_of_workloads_that_train_or_do_not() -> None:
    for training, left_out in ((True, "mlp-train"), (False, "transformer-encoder")):
        plan = select(study(exclusions=[{"mode": "*", "training": training, "reason": "so"}]), ALL)
        assert {cell.workload for cell, _ in plan.excluded} == {left_out}


def test_the_shipped_study_leaves_no_workload_out() -> None:
    shipped = study_file.load(ROOT / "matrix.toml")
    for profile in ("check", "quick", "standard"):
        plan = select(shipped, Selection(profile=profile))
        assert {cell.mode for cell, _ in plan.excluded} == {"compile-step"}
        assert {cell.workload for cell in plan.cells} == set(shipped.workloads)


def test_only_calls_are_measured_at_a_size_in_which_calls_count(monkeypatch: pytest.MonkeyPatch) -> None:
    # On one core all cells have one thread.
    monkeypatch.setattr(selection, "physical_cores", lambda: 2)
    plan = select(study_file.load(ROOT / "matrix.toml"), Selection(profile="quick"))
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


def test_a_mode_that_no_chosen_environment_lists_comes_with_what_can_be_done() -> None:
    default = study_file.load(ROOT / "matrix.toml")
    (said,) = select(default, Selection(environments=["torch1", "jax"], modes=["compile"])).remarks
    assert "torch1: mode 'compile' needs PyTorch 2.0; this environment pins torch==1.13.1." in said
    assert said.endswith("JAX has no mode 'compile'.")
    (said,) = select(default, Selection(environments=["torch2"], modes=["jit", "eag*r", "torchscript"])).remarks
    assert said.endswith("PyTorch has no mode 'jit'. Add it to modes in [environments.torch2].")
    (said,) = select(default, Selection(environments=["jax"], modes=["e*", "jit"])).remarks or ("",)
    assert "Add it" not in said


def test_a_mode_that_no_environment_of_the_study_lists_names_those_that_have_it() -> None:
    with pytest.raises(StudyError) as raised:
        plan_of("--mode", "functorch")
    assert "no environment of the study lists 'functorch'; add it to modes of old or new." in str(raised.value)
    with pytest.raises(StudyError) as raised:
        plan_of("--mode", "eagr")
    assert "did you mean 'eager'?" in str(raised.value)
