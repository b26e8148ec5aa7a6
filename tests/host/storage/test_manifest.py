"""Tests the description of a run: it is written and read whole, older forms stay readable, newer ones are refused."""

from __future__ import annotations

import json

import pytest

from bench.cell import Cell
from bench.host.storage import manifest
from bench.host.storage.lines import NewerSchema
from bench.host.storage.manifest import (
    BUDGET,
    RUN,
    SCHEMA_VERSION,
    Manifest,
    ProfileSummary,
    SpentSeconds,
    Stop,
    StudySummary,
)
from bench.host.storage.manifest_schema import FrameworkNames
from bench.host.study.schema import Profile

PROFILE = Profile(
    name="quick",
    rounds=3,
    samples=10,
    sample_seconds=0.1,
    sizes=("tiny", "small"),
    sizes_of={"gemm": ("tiny",)},
    compile_cache="kept",
)
CELL = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
DESCRIBED = Manifest(
    run="20261122-031722-e052e3",
    identity="e052e3728359fa10",
    started="2026-11-22 03:17:22",
    study=StudySummary("small", "A small study", "torch1:eager"),
    profile=ProfileSummary.of(PROFILE),
    seed=1,
    threads=2,
    machine={"processor": "A processor", "gpus": [{"name": "A GPU"}]},
    frameworks={"toy": FrameworkNames("Toy", "toy-package")},
    environments={"torch1": {"provider": "venv"}},
    looks=(3, 5),
    budget_s=60.0,
    strict=True,
    planned=(CELL,),
    excluded=((CELL, "not this one"),),
    seconds=SpentSeconds(2.0, 1.0),
    finished=False,
    recorded_lines=5,
    peaks={"torch1/cpu": {"flops_per_s": {"float32": 1e11}}},
    largest_batch={CELL.name: {"cap_bytes": 1 << 20, "status": "ok", "items": 64}},
    stopped={CELL.row: Stop(3, BUDGET)},
    host_peak_bytes=7,
)


def test_a_manifest_is_read_as_it_was_written(tmp_path):
    manifest.write(tmp_path, DESCRIBED)
    assert manifest.read(tmp_path) == DESCRIBED
    assert json.loads((tmp_path / RUN).read_text())["schema"] == SCHEMA_VERSION


def test_a_file_without_a_number_is_of_the_first_schema_and_what_it_lacks_has_defaults():
    found = Manifest.from_json({"run": "1", "profile": {"name": "quick", "rounds": 3}, "stopped": None})
    assert found == Manifest(run="1", profile=ProfileSummary(name="quick", rounds=3), looks=(3,))
    assert Manifest.from_json({}) == Manifest()


def test_keys_that_a_later_version_added_are_ignored():
    values = DESCRIBED.to_json()
    values["added"] = values["study"]["added"] = values["seconds"]["added"] = 1
    assert Manifest.from_json(json.loads(json.dumps(values))) == DESCRIBED


def test_the_file_has_every_key_of_the_profile_and_keeps_what_another_version_wrote_there(tmp_path):
    manifest.write(tmp_path, DESCRIBED)
    written = json.loads((tmp_path / RUN).read_text())
    assert written["profile"] == json.loads(PROFILE.model_dump_json())
    del written["profile"]["energy_s"]
    written["profile"] |= {"added": [1, "two"], "model_dump": 1, "__class__": None}
    found = Manifest.from_json(written)
    assert (found.profile.name, found.profile.rounds, found.profile.samples) == ("quick", 3, 10)
    assert json.loads(json.dumps(found.to_json())) == written


def test_a_newer_schema_is_refused_with_the_place_and_a_remedy(tmp_path):
    (tmp_path / RUN).write_text(json.dumps({"schema": SCHEMA_VERSION + 1}))
    with pytest.raises(NewerSchema, match=rf"{tmp_path}.*schema {SCHEMA_VERSION + 1}.*update benchmatrix"):
        manifest.read(tmp_path)


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"study": 3}', '{"planned": [{}]}', '{"looks": 1}'])
def test_there_is_no_manifest_where_the_file_is_absent_or_damaged(tmp_path, text):
    if text is not None:
        (tmp_path / RUN).write_text(text)
    assert manifest.read(tmp_path) is None


def test_seconds_add_up():
    spent = Manifest().spend(elapsed=2.0).spend(elapsed=1.0, waited_for_workers=0.5)
    assert spent.seconds == SpentSeconds(3.0, 0.5)
