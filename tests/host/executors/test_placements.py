"""Tests that every round places the libraries of each environment once."""

from __future__ import annotations

import pytest

from bench.host.executors.job import InstalledEnvironment
from bench.host.executors.placements import Placements, installed_in
from bench.host.machine import page_cache


def installed(folder, **manifest) -> InstalledEnvironment:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (folder / "library.so").touch()
    return InstalledEnvironment((str(folder / "bin" / "python"),), manifest)


@pytest.fixture
def placed(monkeypatch):
    """The folders whose libraries were placed, for each time."""
    calls: list[list[str]] = []
    monkeypatch.setattr(
        page_cache, "place_anew", lambda files, random: calls.append([file.parent.name for file in files])
    )
    return calls


def test_each_round_places_each_environment_once(tmp_path, placed):
    one, other = installed(tmp_path / "one"), installed(tmp_path / "other")
    placements = Placements()
    placements.draw("round 1", {"one": one}, 1)
    placements.draw("round 1", {"one": one, "other": other}, 1)
    placements.draw("round 1", {"one": one, "other": other}, 1)
    placements.draw("round 2", {"one": one, "other": other}, 2)
    assert [call for call in placed if call] == [["one"], ["other"], ["one", "other"]]


def test_environments_of_one_folder_are_placed_once(tmp_path, placed):
    one = installed(tmp_path / "one")
    Placements().draw("round", {"one": one, "same": one}, 1)
    assert placed == [["one"]]


def test_only_virtual_environments_have_a_folder(tmp_path):
    assert installed_in(installed(tmp_path / "one")) == tmp_path / "one"
    assert installed_in(installed(tmp_path / "two", provider="container")) is None
    assert installed_in(InstalledEnvironment(("/usr/bin/python3",))) is None
    assert installed_in(InstalledEnvironment(())) is None
