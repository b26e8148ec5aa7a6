"""Tests the lock of a project: one run at a time, and a file system without locks can be used."""

from __future__ import annotations

import errno
import fcntl

import pytest

from bench.host.refusal import Refused
from bench.host.storage import run_lock


def test_a_second_run_is_refused_and_names_the_first(tmp_path):
    with (
        run_lock.exclusive(tmp_path),
        pytest.raises(Refused, match="another run is under way"),
        run_lock.exclusive(tmp_path),
    ):
        pass
    with run_lock.exclusive(tmp_path):
        pass


def test_a_file_system_without_locks_is_said_and_used(tmp_path, monkeypatch):
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    said: list[str] = []
    with run_lock.exclusive(tmp_path, said.append), run_lock.one_at_a_time(tmp_path / "made.lock"):
        pass
    assert len(said) == 1
    assert "has no locks" in said[0]


def test_another_error_is_told_with_its_place(tmp_path, monkeypatch):
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(Refused, match="Input/output error"), run_lock.exclusive(tmp_path):
        pass
