from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bench.host.setup import staging


@pytest.fixture
def empty(tmp_path):
    """A folder with nothing else in it."""
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def make(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "file").write_text(text)


def test_a_folder_is_replaced_whole(empty):
    place = empty / "place"
    make(place, "old")
    with staging.replacement(place) as folder:
        make(folder, "new")
        assert (place / "file").read_text() == "old"
    assert (place / "file").read_text() == "new"
    assert [path.name for path in empty.iterdir()] == ["place"]


def test_what_fails_leaves_the_old_folder(empty):
    place = empty / "place"
    make(place, "old")

    def fail() -> None:
        with staging.replacement(place) as folder:
            make(folder, "half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        fail()
    assert (place / "file").read_text() == "old"
    assert [path.name for path in empty.iterdir()] == ["place"]


def test_what_killed_builds_left_is_removed(empty):
    make(empty / "place.building-1", "half")
    make(empty / "place.retired-2", "old")
    make(empty / "place2.building-3", "another's")
    with staging.replacement(empty / "place") as folder:
        make(folder, "new")
    assert sorted(path.name for path in empty.iterdir()) == ["place", "place2.building-3"]


def test_two_holders_take_turns(empty, said, announce):
    order: list[str] = []

    def second() -> None:
        with staging.exclusive(empty / "place", announce):
            order.append("second")

    with staging.exclusive(empty / "place", announce):
        thread = threading.Thread(target=second)
        thread.start()
        while not said:
            thread.join(timeout=0.01)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert said == ["place: another process is building it; waiting"]


def test_a_tool_keeps_the_lock_of_its_dead_starter(empty, announce):
    program = (
        "import subprocess, sys; from pathlib import Path; from bench.host.setup import staging\n"
        "with staging.exclusive(Path(sys.argv[1]), print) as hold:\n"
        "    tool = subprocess.Popen(['/bin/cat'], stdin=subprocess.PIPE, pass_fds=(hold,))\n"
        "    print(tool.pid, flush=True); sys.stdin.read()\n"
    )
    place = empty / "place"
    command = [sys.executable, "-c", program, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        tool = int(starter.stdout.readline())
        os.kill(tool, 19)  # else it would end by itself when its starter's pipe does
        starter.kill()
    with (empty / "place.lock").open() as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.kill(tool, 9)
    with staging.exclusive(place, announce):
        pass


def test_a_file_system_without_locks_is_said_and_used(empty, said, announce, monkeypatch):
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with staging.exclusive(empty / "place", announce):
        pass
    assert "has no locks" in said[0]


def test_a_file_is_written_whole_or_not_at_all(empty):
    path = empty / "file"
    staging.write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        staging.write_whole(path, "new \udc80")
    assert path.read_text() == "old"
    assert list(empty.iterdir()) == [path]
