"""Tests which study file an invocation is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.host.study import location, study_file
from bench.host.study.location import StudyError
from bench.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(location.VARIABLE, raising=False)


def test_the_option_goes_before_the_variable_and_that_before_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert location.locate(None, tmp_path) == tmp_path / "matrix.toml"
    assert not location.is_named(None)
    monkeypatch.setenv(location.VARIABLE, "studies/two.toml")
    assert location.locate(None, tmp_path) == tmp_path / "studies/two.toml"
    assert location.is_named(None)
    assert location.locate(Path("three.toml"), tmp_path) == tmp_path / "three.toml"
    assert location.locate(Path("/elsewhere/four.toml"), tmp_path) == Path("/elsewhere/four.toml")


@pytest.mark.parametrize(
    ("file", "name"), [("matrix.toml", "matrix.toml"), ("studies/a b.toml", "studies/a b.toml"), ("../c.toml", None)]
)
def test_the_name_of_a_file_leads_back_to_it(tmp_path: Path, file: str, name: str | None) -> None:
    root = tmp_path / "project"
    found = location.named_from(root, root / file)
    assert found == (name or f"{tmp_path}/c.toml")
    assert location.locate(Path(found), root).resolve() == (root / file).resolve()
    assert location.named_from(root, None) == ""


@pytest.mark.parametrize(
    "arguments", [["--matrix", "a.toml"], ["--matrix=a.toml"], ["--matrix", "b", "--matrix=a.toml"]]
)
def test_the_file_is_found_among_the_arguments_of_any_command(arguments: list[str]) -> None:
    assert location.named_in(["-k", "x", *arguments, "--fresh", "name"]) == Path("a.toml")


def test_other_arguments_name_no_file() -> None:
    assert location.named_in(["-k", "x", "--mat", "a.toml", "build"]) is None


def test_an_option_without_its_value_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        location.named_in(["--matrix"])
    assert refused.value.code == 2
    assert "--matrix: expected one argument" in capsys.readouterr().err


def test_a_file_that_is_missing_is_named_with_the_remedy(tmp_path: Path) -> None:
    remedy = r"Go to the folder of the project, or name a study file with --matrix FILE\."
    with pytest.raises(StudyError, match=rf"one\.toml: cannot be read: No such file .*\. {remedy}"):
        location.read(tmp_path / "one.toml")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_study_file_can_extend_another(tmp_path: Path) -> None:
    write(
        tmp_path / "matrix.toml",
        '[study]\nname = "one"\npaths = ["mine", "~/theirs"]\n[environments.new]\nframework = "jax"\nmodes = ["jit"]\n'
        '[workloads.gemm]\n[workloads.lenet-train]\ndata = "mnist"\n[[exclusions]]\nmode = "jit"\nreason = "so"\n'
        '[environments.other]\nframework = "jax"\npreload = ["mine.c", "/usr/lib/theirs.so"]\n',
    )
    path = write(
        tmp_path / "studies" / "full.toml",
        '[study]\nextends = "../matrix.toml"\nname = "two"\n[environments.new]\nmodes = ["eager"]\n'
        '[workloads.mlp-train]\ndata = "own"\n[[exclusions]]\nmode = "eager"\nreason = "too"\n',
    )
    tables = location.read(path)
    assert tables["study"] == {"extends": "../matrix.toml", "name": "two", "paths": ["../mine", "~/theirs"]}
    assert tables["environments"]["new"] == {"framework": "jax", "modes": ["eager"]}
    assert tables["environments"]["other"]["preload"] == ["../mine.c", "/usr/lib/theirs.so"]
    assert list(tables["workloads"]) == ["gemm", "lenet-train", "mlp-train"]
    assert tables["workloads"]["lenet-train"]["data"] == "../mnist"
    assert tables["workloads"]["mlp-train"]["data"] == "own"
    # An exclusion of a mode that no environment has any more concerns nothing; one of its own would be a mistake.
    assert [each["reason"] for each in tables["exclusions"]] == ["too"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("wheels", "../wheels"),
        ("~/wheels", "~/wheels"),
        ("https://example.org/whl", "https://example.org/whl"),
        ("", ""),
    ],
)
def test_a_folder_of_wheels_begins_where_the_file_that_names_it_lies(tmp_path: Path, given: str, read: str) -> None:
    """The extending file's folder had no wheels, so that the CPU builds could not be locked."""
    write(tmp_path / "matrix.toml", f'[indexes]\ntorch_cpu = "{given}"\n')
    path = write(tmp_path / "studies" / "full.toml", '[study]\nextends = "../matrix.toml"\n')
    assert location.read(path)["indexes"] == {"torch_cpu": read}


def test_a_study_file_can_extend_one_that_extends_another(tmp_path: Path) -> None:
    write(
        tmp_path / "matrix.toml",
        '[study]\nname = "one"\npaths = ["mine"]\n[environments.new]\nmodes = ["jit", "eager"]\n'
        '[[exclusions]]\nmode = "jit"\nreason = "so"\n',
    )
    write(tmp_path / "studies" / "full.toml", '[study]\nextends = "../matrix.toml"\nname = "two"\n')
    path = write(tmp_path / "mine" / "own.toml", '[study]\nextends = "../studies/full.toml"\ntitle = "three"\n')
    tables = location.read(path)
    assert tables["study"] == {
        "extends": "../studies/full.toml", "name": "two", "title": "three", "paths": ["../studies/../mine"]
    }  # fmt: skip
    assert [each["reason"] for each in tables["exclusions"]] == ["so"]


def test_study_files_that_extend_each_other_without_end_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "one.toml", '[study]\nextends = "two.toml"\n')
    write(tmp_path / "two.toml", '[study]\nextends = "one.toml"\n')
    with pytest.raises(StudyError, match=r"one\.toml: study: extends: more than 4 files extend each other"):
        location.read(path)


def test_a_study_file_that_extends_itself_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "one.toml", '[study]\nextends = "./one.toml"\n')
    with pytest.raises(StudyError, match=r"one\.toml: study: extends: '\./one\.toml' is this file itself"):
        location.read(path)


def test_a_file_that_is_extended_and_missing_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "one.toml", '[study]\nextends = "two.toml"\n')
    with pytest.raises(StudyError) as caught:
        location.read(path)
    assert caught.value.errors == (
        f"{tmp_path}/two.toml: cannot be read: No such file or directory. "
        f'Correct extends = "two.toml" in {path}; the path is relative to that file.',
    )


def test_the_full_study_has_every_workload_and_all_environments_of_the_default_one() -> None:
    full, default = (study_file.load(ROOT / name) for name in ("studies/full.toml", "matrix.toml"))
    assert set(full.workloads) == set(BUILT_IN.workloads)
    assert set(default.environments) <= set(full.environments)
    assert set(default.workloads) < set(full.workloads)
    for name, environment in default.environments.items():
        assert set(environment.modes) <= set(full.environments[name].modes)


def test_the_gpu_study_has_verdicts_in_the_sizes_that_it_looks_at_first() -> None:
    study = study_file.load(ROOT / "studies" / "gpu.toml")
    quick, standard = (
        {workload: profile.sizes_of.get(workload, profile.sizes) for workload in study.workloads}
        for profile in (study.profiles["quick"], study.profiles["standard"])
    )
    assert standard == quick


def test_a_byte_order_mark_before_a_study_is_no_part_of_it(tmp_path):
    path = tmp_path / "matrix.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (ROOT / "matrix.toml").read_bytes())
    assert study_file.load(path).settings.name == study_file.load(ROOT / "matrix.toml").settings.name
