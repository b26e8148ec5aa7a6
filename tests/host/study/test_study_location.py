"""Tests which study file an invocation is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.host.study import location
from bench.host.study.location import StudyError


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
    with pytest.raises(StudyError, match=r"one\.toml: cannot be read: No such file .*--matrix FILE"):
        location.read(tmp_path / "one.toml")
