"""Ranges of versions: the releases that stand in their place, and what is said where these are not known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from study_tables import toml

from bench.host import project as place
from bench.host.study import study_file, version_ranges
from bench.host.study.location import StudyError

STUDY: dict[str, Any] = {
    "study": {"name": "r", "baseline": "torch-2.5.1:eager", "default": ["torch"], "profile": "brief"},
    "environments": {"torch": {"framework": "torch", "versions": ">=2.4,<2.10", "modes": ["eager"]}},
    "workloads": {"gemm": {}},
    "indexes": {},
    "exclusions": [],
    "profiles": {"brief": {"rounds": 1, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}},
}
TABLE = STUDY["environments"]["torch"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "locks").mkdir()
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "matrix.toml").write_text(toml(STUDY))
    return tmp_path


def load(project: Path) -> study_file.Study:
    return study_file.load(project / "studies" / "matrix.toml", root=project)


def keep(project: Path, *versions: str, table: dict[str, Any] = TABLE) -> Path:
    path = version_ranges.list_path("torch", project)
    path.write_text(version_ranges.list_text("torch", table, versions))
    return path


def test_the_releases_that_were_looked_up_stand_in_the_place_of_a_range(project: Path) -> None:
    keep(project, "2.5.1", "2.9.1")
    assert load(project).families == {"torch": ("torch-2.5.1", "torch-2.9.1")}


def test_a_range_that_was_not_looked_up_is_refused_with_the_command_that_does_it(project: Path) -> None:
    with pytest.raises(
        StudyError, match=r"torch: versions: which releases fit '>=2\.4,<2\.10' was not looked up yet\. "
    ):
        load(project)
    with pytest.raises(StudyError, match=r"Run: nox -s lock -- torch$"):
        load(project)


@pytest.mark.parametrize("changed", [{"versions": ">=2.4"}, {"python": "3.11"}])
def test_a_list_that_was_made_for_another_range_or_python_is_refused(project: Path, changed: dict[str, str]) -> None:
    keep(project, "2.5.1", table={**TABLE, **changed})
    with pytest.raises(
        StudyError, match=r"locks/torch\.versions\.txt was made for another range than '>=2\.4,<2\.10'\. Run"
    ):
        load(project)


@pytest.mark.parametrize("versions", [(), ("2.5.1", "../../etc"), ("2.5.1", "2.5.1"), ("2.5.1 ; rm",), ("x" * 70_000,)])
def test_a_list_that_was_damaged_is_refused(project: Path, versions: tuple[str, ...]) -> None:
    keep(project, *versions)
    with pytest.raises(StudyError, match="is no version, or none at all"):
        load(project)
    version_ranges.list_path("torch", project).write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="cannot be read"):
        load(project)


def test_the_list_of_the_package_is_used_where_the_project_has_none_that_fits(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = keep(project, "2.5.1", "2.9.1")
    packaged = path.rename(project / "packaged.txt")
    monkeypatch.setattr(place, "data", lambda name: packaged)
    assert len(load(project).environments) == 2
    keep(project, "2.5.1", table={**TABLE, "versions": ">=1"})
    assert len(load(project).environments) == 2


def test_blanks_in_a_range_make_no_difference(project: Path) -> None:
    keep(project, "2.5.1", table={**TABLE, "versions": ">= 2.4, < 2.10"})
    assert list(load(project).environments) == ["torch-2.5.1"]


@pytest.mark.parametrize("value", [">=2", ">=2.0,<3", "~=2.1", "==2.*, !=2.3", ">2.0rc1"])
def test_a_range_is_in_pips_notation(value: str) -> None:
    assert version_ranges.is_range(value)
    assert re.fullmatch(version_ranges.RANGE_PATTERN, value)


@pytest.mark.parametrize(
    "value", ["2.5.1", "", "latest", ">=2;rm", ">=2\n<3", ">=", [">=2"], 2, None, "@ file:///x", ">=2 --x"]
)
def test_anything_else_is_no_range_and_refused(project: Path, value: object) -> None:
    assert not version_ranges.is_range(value)
    if value is not None:
        (project / "studies" / "matrix.toml").write_text(
            toml({**STUDY, "environments": {"torch": {**TABLE, "versions": value}}})
        )
        with pytest.raises(StudyError, match="versions"):
            load(project)


@pytest.mark.parametrize("name", ["../../elsewhere", "a/b", "x" * 300, "Torch"])
def test_a_table_whose_name_is_wrong_has_no_file_and_is_refused_by_its_name(project: Path, name: str) -> None:
    """A long name was too long for a file, so nox -l ended with a traceback; "../x" was looked for and written."""
    tables = {**STUDY, "environments": {name: TABLE}}
    assert version_ranges.ranges(tables) == {}
    assert version_ranges.with_releases(tables, project)[0] == tables
    (project / "studies" / "matrix.toml").write_text(toml(tables))
    with pytest.raises(StudyError, match=r": environments\..*: name: use at most 64 lower-case letters"):
        load(project)
