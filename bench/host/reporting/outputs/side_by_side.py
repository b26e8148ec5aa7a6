"""Divides pieces of work that need nothing of one another between this process and a copy of it.

Python computes on one processor at a time. A copy of the process (a fork) has all of the report without sending it,
and both write files until none is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...machine import processors

#: Pieces at most: their numbers are bytes in a pipe, from which both processes take.
MOST = 256


def call(pieces: Sequence[Callable[[], Any]], *, copies: bool | None = None) -> list[Any]:
    """Call every piece once, the last ones first, and return what they return, in their order.

    A piece returns what JSON can hold. ``copies`` tells whether a copy of the process takes part; without it, one does
    where two processors are free for it. What a copy could not finish is called here, so errors are raised here.
    """
    if copies is None:
        # The threads of a process are not in its copy, nor would their locks ever be released there.
        copies = len(processors.available()) > 1 and hasattr(os, "fork") and threading.active_count() == 1
    found = _share(pieces) if copies and 1 < len(pieces) <= MOST else {}
    return [found[number] if number in found else piece() for number, piece in enumerate(pieces)]


def _share(pieces: Sequence[Callable[[], Any]]) -> dict[int, Any]:
    """Return by their numbers what those pieces returned that this process and its copy finished."""
    numbers, taken = os.pipe(), os.pipe()
    os.write(numbers[1], bytes(reversed(range(len(pieces)))))
    os.close(numbers[1])
    try:
        child = _fork()
    except OSError:
        # Such as a limit on processes: everything is done here.
        for end in (numbers[0], *taken):
            os.close(end)
        return {}
    if child == 0:
        _work_in_copy(pieces, numbers[0], taken[1])
    os.close(taken[1])
    found: dict[int, Any] = {}
    try:
        _work(pieces, numbers[0], found)
    finally:
        # After an error here nothing is left to take, so the copy ends with the piece that it has.
        os.read(numbers[0], MOST)
        with os.fdopen(taken[0]) as told:
            lines = told.readlines()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        os.close(numbers[0])
    for line in lines:
        number, value = json.loads(line)
        found[number] = value
    return found


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns of any thread. The only ones here are those of NumPy's linear algebra, which it stops
        # for a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work(pieces: Sequence[Callable[[], Any]], numbers: int, found: dict[int, Any]) -> None:
    while number := os.read(numbers, 1):
        found[number[0]] = pieces[number[0]]()


def _work_in_copy(pieces: Sequence[Callable[[], Any]], numbers: int, told: int) -> None:
    """Work in the copy, tell of every piece as it is finished, and end; never return to the caller's program."""
    try:
        while number := os.read(numbers, 1):
            value = pieces[number[0]]()
            os.write(told, json.dumps([number[0], value]).encode() + b"\n")
    finally:
        # Neither the handlers of exits nor the files of the original are the copy's.
        os._exit(0)
