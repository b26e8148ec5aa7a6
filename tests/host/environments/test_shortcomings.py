"""Tests what is known to be missing for an environment before anything is built."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from wheels import Wanted

from bench.host.environments import forecast, locks, shortcomings, venv
from bench.host.environments.outcome import folder_of
from bench.host.environments.shortcomings import shortcoming

TABLE = Wanted("own", "numpy", requirements=("numpy",), interpreter=None)
MISSING = "the interpreter '/nope' does not exist or cannot be executed"


def test_what_is_there_lacks_nothing(tmp_path: Path) -> None:
    assert shortcoming(TABLE, tmp_path) is None
    assert shortcoming(replace(TABLE, interpreter=sys.executable), tmp_path) is None
    assert shortcoming(replace(TABLE, provider="existing", interpreter=sys.executable), tmp_path) is None


def test_an_interpreter_that_is_missing_is_named_as_a_run_does(tmp_path: Path) -> None:
    assert shortcoming(replace(TABLE, interpreter="/nope"), tmp_path) == MISSING
    remedy = "; give another one: --interpreter own=PATH"
    assert shortcoming(replace(TABLE, provider="existing", interpreter="/nope"), tmp_path) == MISSING + remedy


def test_an_interpreter_of_another_version_is_named(tmp_path: Path) -> None:
    found = shortcoming(replace(TABLE, interpreter=sys.executable, python="3.1"), tmp_path)
    assert found is not None
    assert found.endswith(", not 3.1")


def test_a_driver_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcomings.facts, "gpus", list)
    said = "it needs an NVIDIA GPU with driver 580.65 or newer; this machine has none"
    assert shortcoming(replace(TABLE, driver="580.65"), tmp_path) == said


def test_a_venv_that_was_built_with_its_interpreter_needs_it_no_more(tmp_path: Path) -> None:
    lock = locks.find_lock("own", tmp_path)
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("numpy==1.26.4\n")
    manifest = folder_of(tmp_path) / "own" / venv.MANIFEST
    manifest.parent.mkdir(parents=True)
    stated = {"layout": venv.LAYOUT, "lock_hash": locks.lock_hash(lock), "asked_for": "/nope"}
    manifest.write_text(json.dumps(stated))
    table = replace(TABLE, interpreter="/nope")
    assert forecast.is_built(table, tmp_path)
    assert shortcoming(table, tmp_path) is None
    manifest.write_text(json.dumps({**stated, "layout": venv.LAYOUT - 1}))
    assert not forecast.is_built(table, tmp_path)
    # With another interpreter it is built again.
    other = replace(table, interpreter="/nope/either")
    assert not forecast.is_built(other, tmp_path)
    assert shortcoming(other, tmp_path) == MISSING.replace("/nope", "/nope/either")
