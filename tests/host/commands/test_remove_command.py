"""Tests that environments are removed by name, that mistakes remove nothing, and that the cache stays by default."""

from __future__ import annotations

import json

import pytest

from bench.host.__main__ import main
from bench.host.environments import removal
from bench.host.environments.outcome import folder_of
from bench.host.storage.run_lock import exclusive

STUDY = """
[study]
name = "small"
title = "Small"
default = ["one"]
baseline = "one:eager"
profile = "check"
seed = 1
[environments.one]
framework = "numpy"
python = "3.11"
requirements = ["numpy==2.4.6"]
modes = ["eager"]
[workloads.gemm]
[profiles.check]
note = "seconds"
rounds = 1
samples = 2
sample_seconds = 0.001
sizes = ["check"]
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "matrix.toml").write_text(STUDY)
    place = folder_of(tmp_path) / "one"
    (place / "bin").mkdir(parents=True)
    (place / "manifest.json").write_text(json.dumps({"size_bytes": 2_000_000_000, "packages": {"numpy": "2.4.6"}}))
    return tmp_path


@pytest.fixture
def forgotten(monkeypatch):
    found = []
    monkeypatch.setattr(removal, "find_uv", lambda root: "uv")
    monkeypatch.setattr(removal, "forget", lambda uv, place, packages: found.extend(packages))
    return found


def test_an_environment_is_removed_and_its_packages_stay_in_the_cache(project, forgotten, capsys):
    assert main(["remove", "one"], project) == 0
    assert "one: removed, which frees 2.00 GB" in capsys.readouterr().out
    assert not (folder_of(project) / "one").exists()
    assert forgotten == []


def test_its_packages_leave_the_cache_where_that_is_wanted(project, forgotten):
    assert main(["remove", "one", "--cached"], project) == 0
    assert forgotten == ["numpy"]


def test_an_environment_that_was_not_built_is_no_mistake(project, capsys):
    assert main(["remove", "one", "one"], project) == 0
    assert main(["remove", "one"], project) == 0
    assert "one: not built" in capsys.readouterr().out


def test_an_unknown_name_removes_nothing(project, capsys):
    assert main(["remove", "one", "onn"], project) == 2
    assert "unknown environment 'onn'; did you mean 'one'?" in capsys.readouterr().err
    assert (folder_of(project) / "one").exists()


def test_nothing_is_removed_beside_a_run(project, capsys):
    with exclusive(project):
        assert main(["remove", "one"], project) == 2
    assert "another run is under way" in capsys.readouterr().err
    assert (folder_of(project) / "one").exists()
