"""The study file: what is read from it, and every mistake with its place, value and remedy."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

import pytest
from study_tables import ROOT, TABLES, changed, errors_of, toml

from bench.host.study import study_file
from bench.host.study.location import StudyError
from bench.host.study.suggestion import unknown
from bench.registry import BUILT_IN


def test_the_example_is_a_study() -> None:
    study = study_file.parse(TABLES)
    assert list(study.environments) == ["old", "new", "there"]
    assert study.environments["new"].name == "new"
    assert study.environments["new"].provider == "venv"
    assert study.profiles["quick"].name == "quick"
    assert study.workloads["mlp-train"].precisions == ("float32",)
    assert study.settings.threads == "all"


def test_a_study_does_not_change() -> None:
    study = study_file.parse(TABLES)
    with pytest.raises(ValueError, match="frozen"):
        study.settings.seed = 1


def test_the_shipped_study_names_every_column_of_its_comparison() -> None:
    study = study_file.load(ROOT / "matrix.toml")
    assert study.settings.default == ("torch1", "torch2", "tf2", "jax")
    assert study.settings.baseline == "torch1:eager"
    assert {"check", "quick", "standard", "publication"} <= set(study.profiles)
    others = {name: env.python for name, env in study.environments.items() if env.provider == "venv"}
    # There are no wheels for a newer Python, or none that work with it, which the note says.
    for name, python in {"tf1": "3.7", "theano": "3.8", "jax-newest": "3.12"}.items():
        assert others.pop(name) == python
        assert python in study.environments[name].note
    assert set(others.values()) == {"3.11"}


def test_adding_a_version_is_adding_one_table(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    table = '[environments.older]\nframework = "torch"\npython = "3.11"\n'
    table += 'requirements = ["torch==2.5.1"]\nmodes = ["compile"]\n'
    path.write_text(toml(TABLES) + table, encoding="utf-8")
    assert study_file.load(path).environments["older"].requirements == ("torch==2.5.1",)


def test_all_errors_of_a_file_come_at_once_in_its_order() -> None:
    tables = changed("study", "baseline", value="old:eagre")
    tables["environments"]["old"]["modes"] = ["eager", "compile", "jitt"]
    tables["environments"]["new"]["frame"] = "jax"
    tables["workloads"]["mlp-trian"] = {}
    tables["profiles"]["quick"]["rounds"] = 0
    assert errors_of(tables) == [
        "matrix.toml: study: baseline: unknown old mode 'eagre'; did you mean 'eager'? Known: eager, compile.",
        "matrix.toml: environments.old: modes: " + unknown("mode", "jitt", BUILT_IN.facts("torch").mode_names),
        "matrix.toml: environments.old: mode 'compile' needs PyTorch 2.0; this environment pins torch==1.13.1. "
        "Use 'eager' or 'torchscript' or 'torchscript-trace' or 'torchscript-optimized' or 'channels-last' or "
        "'channels-first' or 'functorch' or 'ddp' or 'data-parallel' or 'autocast'.",
        "matrix.toml: environments.new: unknown key 'frame'; did you mean 'framework'? "
        "Known: framework, provider, python, requirements, allow_source, build_requirements, modes, interpreter, lock, "
        "dockerfile, base, system_packages, driver, variables, preload, versions, note.",
        "matrix.toml: workloads.mlp-trian: " + unknown("workload", "mlp-trian", BUILT_IN.workloads),
        "matrix.toml: profiles.quick: rounds: 0: must be greater than or equal to 1.",
        "matrix.toml: exclusions[0]: mode: unknown mode 'torch*'. Known: eager, compile, jit.",
    ]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("environments", "new", "python"), 3.11, 'python: 3.11 must be a string; write it in quotes: "3.11".'),
        (("environments", "new", "python"), "python3.11", "'python3.11': give a version of Python 3 such as \"3.11\"."),
        (("environments", "new", "python"), None, "provider 'venv' needs python; give for example"),
        (("environments", "new", "requirements"), None, "provider 'venv' needs requirements; give for example"),
        (("environments", "new", "requirements"), ["jax = 1"], "'jax = 1' is not in pip's notation"),
        (("environments", "new", "modes"), "jit", "modes: 'jit' must be an array; write it in brackets: [\"jit\"]."),
        (("environments", "new", "modes"), ["compile"], "unknown jax mode 'compile'. Known: eager, jit"),
        (("environments", "new", "modes"), ["jit", "jit"], "modes: 'jit' is listed twice; remove one."),
        (("environments", "new", "modes"), None, "modes is missing. How the framework executes"),
        (("environments", "new", "framework"), "jaxx", "unknown framework 'jaxx'; did you mean 'jax'?"),
        (("environments", "new", "name"), "x", "unknown key 'name'"),
        (("environments", "new", "variables"), {"A B": "x"}, "variables: 'A B': use letters"),
        (("environments", "new", "variables"), {"A": "\0"}, "remove the NUL character"),
        (("environments", "there", "interpreter"), None, "provider 'existing' needs interpreter"),
        (("environments", "there", "requirements"), ["numpy"], "installs nothing; remove requirements"),
        (
            ("environments", "there", "provider"),
            "exist",
            "provider: 'exist': must be 'venv', 'existing' or 'container'.",
        ),
        (("environments", "Torch 1"), TABLES["environments"]["new"], "use at most 64 lower-case letters"),
        (("environments", "a/b"), TABLES["environments"]["new"], "use at most 64 lower-case letters"),
        (("environments", ".."), TABLES["environments"]["new"], "use at most 64 lower-case letters"),
        (("environments", "new"), 3, "environments.new: 3 must be a table"),
        (("environments",), {}, "environments: must hold at least one table; add for example [environments.torch2]."),
        (("environment",), {}, "top level: unknown table 'environment'; did you mean 'environments'?"),
        (("study", "name"), "../up", "study: name: '../up': use at most 64"),
        (("study", "threads"), 0, "threads: 0: give a whole number of at least 1, or 'all'"),
        (("study", "threads"), True, "threads: True: give a whole number"),
        (("study", "threads"), [1, 0], "threads: 0: give a whole number of at least 1, or 'all'"),
        (("study", "threads"), 10**13, "threads: 10,000,000,000,000 threads are more than any machine has"),
        (("study", "threads"), [], "threads: []: give at least one number of threads"),
        (("study", "threads"), [1, 1], "threads: 1 is listed twice; remove one."),
        (("workloads", "mlp-train", "threads"), "one", "threads: 'one': give a whole number of at least 1, or 'all'"),
        (("profiles", "quick", "sizes_of"), {"mlp-trian": ["tiny"]}, "sizes_of: unknown workload 'mlp-trian'; did you"),
        (("profiles", "quick", "sizes_of"), {"mlp-train": ["tny"]}, "sizes_of: unknown mlp-train size 'tny'; did you"),
        (
            ("study", "default"),
            ["nwe"],
            "default: unknown environment 'nwe'; did you mean 'new'? Known: old, new, there.",
        ),
        (("study", "baseline"), "old", "baseline: 'old' names no column; give environment:mode"),
        (("study", "baseline"), "odl:eager", "baseline: unknown environment 'odl'; did you mean 'old'?"),
        (("study", "profile"), "quik", "profile: unknown profile 'quik'; did you mean 'quick'? Known: quick."),
        (("study", "devices"), ["gpuu"], "unknown device 'gpuu'; did you mean 'gpu'? Known: cpu, gpu."),
        (("workloads", "mlp-train", "sizes"), ["smal"], "unknown mlp-train size 'smal'; did you mean 'small'?"),
        (("workloads", "mlp-train", "precisions"), ["float16"], "unknown mlp-train precision 'float16'"),
        (("workloads", "mlp-train", "data"), "~/x", "reads no data; remove data."),
        (("workloads", "mlp_train"), {}, "unknown workload 'mlp_train'; did you mean 'mlp-train'?"),
        (("workloads", "mlp-train", "data"), 3, "data: 3: give a path, in quotes."),
        (("profiles", "quick", "sizes"), ["smal"], "unknown size 'smal'; did you mean 'small'?"),
        (("profiles", "quick", "sample_seconds"), float("nan"), "sample_seconds: nan"),
        (("profiles", "quick", "samples"), True, "samples: True: must be a valid integer."),
        (("exclusions",), {"reason": "x"}, "exclusions: must be an array of tables; write [[exclusions]]"),
        (("exclusions", 0), {"reason": "x"}, "exclusions[0]: names no cells; give at least one of environment, "),
        (("exclusions", 0, "workload"), "mpl-*", "unknown workload 'mpl-*'; did you mean 'mlp-train'?"),
        (("exclusions", 0, "reason"), "", "reason: '': must hold something"),
        (("claims", "jit", "factor"), "faster", "factor: 'faster': give by what factor: '>1' is better, '>=1' as good"),
        (("claims", "jit", "factor"), ">=5,<=4", "the two ends hold nothing between them; write for example '>=4,<=5'"),
        (("claims", "jit", "factor"), ">0", "factor: '>0': a factor is above 0."),
        (("claims", "jit", "factor"), None, 'factor is missing; give for example factor = ">1", or unsettled'),
        (("claims", "jit", "against"), None, "against is missing; give for example"),
        (("claims", "jit", "against"), ["eagre"], "against: unknown mode 'eagre'; did you mean 'eager'?"),
        (("claims", "jit", "columns"), ["new:jti"], "columns: unknown column 'new:jti'; did you mean 'new:jit'?"),
        (("claims", "jit", "columns"), None, 'names no columns; give for example columns = ["jax:jit"]'),
        (("claims", "jit", "workloads"), ["mpl-*"], "workloads: unknown workload 'mpl-*'; did you mean 'mlp-train'?"),
        (("claims", "jit", "quantity"), "steps", "quantity: 'steps': must be 'step', 'first-call', 'warm-start'"),
        (("claims", "jit", "quantity"), "warm-start", "against: the columns are compared with themselves; remove"),
        (("claims", "jit", "against_workload"), "mlp-train", "against: the columns are compared with themselves"),
        (
            ("claims", "jit", "unsettled"),
            "no number",
            "unsettled: nothing decides it; remove columns, against, factor; or",
        ),
        (("claims", "jit", "says"), None, "says is missing. The sentence."),
        (("claims", "jit", "device"), "tpu", "device: unknown device 'tpu'"),
        (("claims", "Jit"), TABLES["claims"]["jit"], "use at most 64 lower-case letters"),
    ],
)
def test_a_mistake_is_one_error_with_value_and_remedy(path: tuple[str | int, ...], value: Any, said: str) -> None:
    tables = changed(*path, value=value)
    (error,) = errors_of(tables)
    assert error.startswith("matrix.toml: ")
    assert said in error


@pytest.mark.parametrize(
    ("requirement", "refused"),
    [
        ("torch==1.13.1", True),
        ("torch==1.13.*", True),
        ("torch<2", True),
        ("torch<=1.13.1", True),
        ("torch~=1.12", True),
        ("Torch >= 1.0, < 2.0", True),
        ("torch==2.0.0", False),
        ("torch==2.15.0+cpu", False),
        ("torch<2.1", False),
        ("torch>=1.13", False),
        ("torch", False),
        ("torch==1.13.1; python_version < '3.9'", False),
        ("torchvision==0.14.1", False),
    ],
)
def test_compile_is_refused_exactly_where_the_pin_is_before_pytorch_2(requirement: str, refused: bool) -> None:
    tables = changed("environments", "old", "requirements", value=[requirement])
    tables["environments"]["old"]["modes"] = ["eager", "torchscript", "compile"]
    if refused:
        (error,) = errors_of(tables)
        assert f"mode 'compile' needs PyTorch 2.0; this environment pins {requirement}. Use 'eager'" in error
    else:
        assert "compile" in study_file.parse(tables).environments["old"].modes


def test_paths_are_expanded_and_data_is_found_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("STACK", "/opt/stack")
    monkeypatch.setattr(BUILT_IN.specification("mlp-train"), "source", lambda path=None: None, raising=False)
    tables = changed("environments", "there", "interpreter", value="$STACK/bin/python")
    for written, expected in (("digits", tmp_path / "digits"), ("~/digits", Path("/home/someone/digits"))):
        tables["workloads"]["mlp-train"]["data"] = written
        study = study_file.parse(tables, folder=tmp_path)
        assert study.workloads["mlp-train"].data == expected
        assert study.environments["there"].interpreter == "/opt/stack/bin/python"


def test_broken_toml_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    for text, line in (("[study]\nname =\n", 2), ("[environments.a]\n\n[environments.a]\n", 3)):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(StudyError, match=rf"broken\.toml: not valid TOML: .*\(at line {line}, "):
            study_file.load(path)


def test_the_line_that_is_no_toml_is_shown_with_what_it_may_lack(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("[study]\nprofile = quick\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"column 11\)\. That line: 'profile = quick'\. A text stands in quotes\."):
        study_file.load(path)


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text("\ufeff" + toml(TABLES), encoding="utf-8")
    assert study_file.load(path).settings == study_file.parse(TABLES).settings


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path, Path("nul\0")):
        with pytest.raises(StudyError, match=r"cannot be read: .*--matrix"):
            study_file.load(path)


def test_a_file_is_named_as_it_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies").mkdir()
    path = tmp_path / "studies" / "one.toml"
    path.write_text("x = 1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match=r"^studies/one\.toml: top level: "):
        study_file.load(path)


def test_a_long_list_is_cut_where_a_name_is_suggested() -> None:
    names = [f"workload-{number}" for number in range(50)]
    assert unknown("workload", "workload_7", names).endswith(
        "'workload-7'? Known: " + ", ".join(names[:20]) + ", … (30 more)."
    )
    assert unknown("workload", "gemm", names) == f"unknown workload 'gemm'. Known: {', '.join(names)}."


def test_a_name_unlike_every_other_gets_no_suggestion() -> None:
    assert unknown("mode", "zzzzz", ["eager", "jit"]) == "unknown mode 'zzzzz'. Known: eager, jit."
    assert unknown("workload", "MLP_Train", ["gemm", "mlp-train"]).startswith(
        "unknown workload 'MLP_Train'; did you mean 'mlp-train'?"
    )
    assert unknown("mode", "x", []) == "unknown mode 'x': there is none to choose from."


def test_the_full_study_leaves_memory_formats_to_workloads_with_images() -> None:
    study = study_file.load(ROOT / "studies" / "full.toml")
    left_out = [each.workload or "*" for each in study.exclusions if each.mode == "channels-*"]
    for workload in study.workloads:
        # Images from a pipeline are in the layout that it makes.
        has_images = study.registry.specification(workload).ITEM == "image" and "input" not in workload
        assert has_images != any(fnmatch.fnmatchcase(workload, pattern) for pattern in left_out), workload
