"""Tests that every process has another memory layout."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bench.worker import layout

#: Prints where within its page the C library puts an array of so many bytes.
WHERE = "import ctypes; malloc = ctypes.CDLL(None).malloc; malloc.restype = ctypes.c_void_p; print(malloc({}) % 4096)"
SCATTER = "from bench.worker import layout; layout.scatter({})\n"


def places(code: str) -> set[str]:
    """Return where arrays lay in eight processes."""
    run = [sys.executable, "-c", code]
    return {subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(8)}


@pytest.mark.parametrize("size", [9000, 60_000])
def test_arrays_lie_elsewhere_in_every_process(size):
    """Of eight places among 256, fewer than five different ones have a probability of one in ten million."""
    assert len(places(SCATTER.format("") + WHERE.format(size))) >= 5


def test_without_it_they_lie_where_they_always_do():
    """What makes it necessary: the place follows from what was allocated before."""
    assert len(places(WHERE.format(9000))) == 1


def test_processes_that_share_a_seed_share_a_layout():
    assert len(places(SCATTER.format(7) + WHERE.format(9000))) == 1


def test_blocks_are_kept():
    before = len(layout._kept)
    taken = layout.scatter()
    made = layout._kept[before:]
    assert len(made) == layout.BLOCKS
    assert sum(map(len, made)) == taken
    assert len(set(map(len, made))) > layout.BLOCKS // 2
