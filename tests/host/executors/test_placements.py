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


@pytest.mark.parametrize(("gpu", "expected"), [(False, ["cpu.so"]), (True, ["cpu.so", "cublas.so", "cuda.so"])])
def test_code_for_gpus_is_placed_where_a_gpu_is_measured(tmp_path, monkeypatch, gpu, expected):
    one = installed(tmp_path / "one")
    (tmp_path / "one" / "library.so").unlink()
    for name in ("torch/libtorch_cpu.so", "torch/libtorch_cuda.so", "nvidia/cublas/lib/libcublas.so.12"):
        (tmp_path / "one" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / name).touch()
    found = []
    monkeypatch.setattr(page_cache, "place_anew", lambda files, random: found.extend(file.name for file in files))
    Placements().draw("round", {"one": one}, 1, gpu=gpu)
    assert sorted(name.replace("libtorch_", "").replace("lib", "").removesuffix(".12") for name in found) == expected


def test_only_virtual_environments_have_a_folder(tmp_path):
    assert installed_in(installed(tmp_path / "one")) == tmp_path / "one"
    assert installed_in(installed(tmp_path / "two", provider="container")) is None
    assert installed_in(InstalledEnvironment(("/usr/bin/python3",))) is None
    assert installed_in(InstalledEnvironment(())) is None
