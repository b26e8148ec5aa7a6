"""Tests the lock of a project: one run at a time, and a file system without locks can be used."""

from __future__ import annotations

import errno
import fcntl
import os

import pytest

from bench.host.refusal import Refused
from bench.host.setup import staging
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
    with run_lock.exclusive(tmp_path, said.append), staging.one_at_a_time(tmp_path / "made.lock"):
        pass
    assert len(said) == 1
    assert "has no locks" in said[0]


def test_another_error_is_told_with_its_place(tmp_path, monkeypatch):
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(Refused, match="Input/output error"), run_lock.exclusive(tmp_path):
        pass


def test_a_full_disk_is_told_with_the_place_of_the_lock(tmp_path, monkeypatch):
    """The system's error names no file, so the command ended with a traceback."""

    def refuse(descriptor: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        with (
            pytest.raises(Refused, match=r"run\.lock: cannot be used: No space.* Free some"),
            run_lock.exclusive(tmp_path),
        ):
            pass
    with run_lock.exclusive(tmp_path):
        assert (tmp_path / ".nox" / "run.lock").read_text() == str(os.getpid())


@pytest.mark.parametrize("made_anew", [False, True], ids=["the file is gone", "another made it anew"])
def test_who_waited_for_a_file_that_was_removed_meanwhile_holds_the_one_that_others_find(
    tmp_path, monkeypatch, made_anew
):
    path = tmp_path / "made.lock"
    lock, waits = staging.lock, []

    def ends_meanwhile(descriptor: int, *, wait: bool) -> bool:
        """Lock a file that its holder removes before it lets go of it."""
        waits.append(descriptor)
        if len(waits) == 1:
            path.unlink()
            if made_anew:
                path.touch()
        return lock(descriptor, wait=wait)

    monkeypatch.setattr(staging, "lock", ends_meanwhile)
    with staging.one_at_a_time(path):
        assert len(waits) == 2
        other = os.open(path, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            lock(other, wait=False)
        os.close(other)
    assert not path.exists()
