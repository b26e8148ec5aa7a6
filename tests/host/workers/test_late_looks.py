"""Tests that an answer counts that arrived while the host was stopped, and that nothing else delays a timeout."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.host.workers.parent import Parent
from bench.host.workers.protocol import Ended, Lines, receive

ANSWER = b'{"event": "worked", "steps": 1, "seconds": 0.5}\n'
IMPORTED = json.dumps({"event": "imported"}).encode()


class Source:
    """A worker whose answers are given; before the first one, the time is over."""

    stage = "work"

    def __init__(self, log: Path, *pieces: bytes) -> None:
        self.log = log
        self._pieces = iter((None, *pieces))
        self._lines = Lines(self._read)

    def _read(self, left_s: float) -> bytes | None:
        assert left_s >= 0
        time.sleep(left_s + 0.001)
        return next(self._pieces, None)

    def line(self, deadline: float) -> bytes | None:
        return self._lines.next(deadline)

    def kill(self) -> None:
        self._pieces = iter(())


class Pipe(Source):
    """The connection of a parent, from which these pieces can be read without waiting, again and again."""

    process_id = None

    def __init__(self, log: Path, pieces: Iterator[bytes]) -> None:
        self.log = log
        self._pieces = pieces

    def write(self, data: bytes) -> None: ...

    def read(self, left_s: float) -> bytes | None:
        assert left_s >= 0
        return next(self._pieces, None)


def passed_on(number: int, kind: bytes, data: bytes) -> bytes:
    return b"%d %s %d\n%s" % (number, kind, len(data), data)


def test_an_answer_that_arrived_at_the_deadline_is_no_timeout(tmp_path):
    half = len(ANSWER) // 2
    for pieces in ((ANSWER,), (ANSWER[:half], ANSWER[half:])):
        assert receive(Source(tmp_path / "a.log", *pieces), 0.01)["event"] == "worked"
    with pytest.raises(Ended, match=r"no answer within 0\.01 s"):
        receive(Source(tmp_path / "a.log", ANSWER[:half]), 0.01)


def test_an_answer_from_a_parent_counts_after_the_deadline_and_a_flood_of_its_log_does_not(tmp_path):
    for pieces, line in (
        (iter([passed_on(1, b"m", ANSWER)]), ANSWER),
        (iter(lambda: passed_on(1, b"l", b"warm"), None), None),
    ):
        parent = Parent(Pipe(tmp_path / "a.log", pieces), "odd", lambda outer, inner: inner)
        worker = parent.fork(log=tmp_path / "b.log", processors=[], layout=None, variables={})
        assert worker.line(time.monotonic() - 1) == line
        worker.end_log()


def test_an_import_that_ended_before_the_deadline_is_noticed_after_it(tmp_path):
    for pieces, ended in (
        (iter([passed_on(0, b"m", IMPORTED)]), None),
        (iter(lambda: passed_on(0, b"m", b'{"event": "stage", "stage": "import"}'), None), "timeout"),
    ):
        parent = Parent(Pipe(tmp_path / "a.log", pieces), "odd", lambda outer, inner: inner)
        parent.await_import(-1)
        assert (parent.ended and parent.ended.status) == ended
