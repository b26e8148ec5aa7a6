"""Tests that environments are removed by name, that mistakes remove nothing, and that the cache stays by default."""

from __future__ import annotations

import json

import pytest

from bench.host.__main__ import main
from bench.host.environments import outcome, removal
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
def asked(tmp_path, monkeypatch):
    """Puts a program in the place of uv; returns what it is asked to do, and lets a test give its exit code."""

    class Uv:
        path = tmp_path / "uv"

        def ends_with(self, code):
            self.path.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/asked"\nexit {code}\n')
            self.path.chmod(0o755)

        @property
        def words(self):
            return (tmp_path / "asked").read_text().split() if (tmp_path / "asked").exists() else []

    uv = Uv()
    uv.ends_with(0)
    monkeypatch.setattr(removal, "find_uv", lambda root: str(uv.path))
    return uv


def test_an_environment_is_removed_and_its_packages_stay_in_the_cache(project, asked, capsys):
    assert main(["remove", "one"], project) == 0
    assert "one: removed, which frees 2.00 GB" in capsys.readouterr().out
    assert not (folder_of(project) / "one").exists()
    assert asked.words == []


def test_its_packages_leave_the_cache_where_that_is_wanted(project, asked):
    assert main(["remove", "one", "--cached"], project) == 0
    assert asked.words == ["cache", "clean", "--quiet", "numpy"]


def test_a_cache_that_cannot_be_emptied_is_told_and_the_environment_is_removed(project, asked, capsys):
    asked.ends_with(7)
    assert main(["remove", "one", "--cached"], project) == 0
    assert "one: its packages stay in the installer's cache: uv ended with status 7" in capsys.readouterr().out
    assert not (folder_of(project) / "one").exists()


def test_a_removal_that_was_interrupted_is_finished(project, capsys):
    (folder_of(project) / "one" / "manifest.json").unlink()
    assert main(["remove", "one", "--cached"], project) == 0
    assert "one: removed" in capsys.readouterr().out
    assert not (folder_of(project) / "one").exists()


def add_sharing(project, name, further=""):
    """Add an environment that shares the lock of ``one`` to the study."""
    study = (project / "matrix.toml").read_text()
    table = f'[environments.{name}]\n{further}framework = "numpy"\nlock = "one"\nmodes = ["eager"]\n'
    (project / "matrix.toml").write_text(study.replace("[workloads.gemm]", table + "[workloads.gemm]"))


def test_a_container_is_left_to_its_own_command(project, capsys):
    add_sharing(project, "box", 'provider = "container"\n')
    assert main(["remove", "box"], project) == 0
    assert "box: a container, which has an image: nox -s images -- prune" in capsys.readouterr().out


def test_one_that_shares_an_installation_names_it(project, capsys):
    add_sharing(project, "other")
    assert main(["remove", "other"], project) == 0
    assert "other: has the installation of one: name that one" in capsys.readouterr().out
    assert (folder_of(project) / "one").exists()


def test_those_that_share_a_removed_installation_are_not_ready_any_more(project):
    add_sharing(project, "other")
    outcome.save(outcome.ready("other", ("python",), {}), project)
    assert main(["remove", "one"], project) == 0
    assert outcome.load_outcome("other", root=project) is None


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
