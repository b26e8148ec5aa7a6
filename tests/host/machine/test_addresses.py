"""Tests that processes that take turns lie at the same addresses, which others do not share."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.host.environments.variables import of_layout
from bench.host.machine.addresses import ADDR_NO_RANDOMIZE, ONLY_READ, fixed_addresses
from bench.worker import steering

#: Prints where a library (NumPy's), a large array and the stack lie in a process with this layout.
WHERE = """
import ctypes, sys
from bench.worker.timing import layout
kept = layout.Layout(int(sys.argv[1]))
kept.shift()
from bench.worker import steering
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
array = libc.malloc(64 << 20)
stack = next(line for line in open("/proc/self/maps") if line.rstrip().endswith("[stack]")).split()[0]
library = next(line for line in open("/proc/self/maps") if "_multiarray_umath" in line).split("-")[0]
print(steering.addresses(), array, library, ctypes.addressof(ctypes.create_string_buffer(1)), stack)
"""
ROOT = Path(__file__).resolve().parents[3]


def can_share() -> bool:
    """Tell whether this system lets a process have addresses that are not drawn; some sandboxes do not."""
    with fixed_addresses():
        return "drawn by the round" in steering.addresses()


needs_sharing = pytest.mark.skipif(not can_share(), reason="this system always draws addresses")


def where(layout: int, *, shared: bool = True) -> str:
    """Start a process as a worker is started, and return where things lie in it."""
    with fixed_addresses() if shared else contextlib.nullcontext():
        run = [sys.executable, "-c", WHERE, str(layout)]
        given = {**os.environ, **of_layout(layout)}
        return subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT, env=given).stdout


@needs_sharing
def test_processes_of_one_layout_lie_at_the_same_addresses():
    assert where(7) == where(7)
    assert where(7).startswith("drawn by the round")


@needs_sharing
def test_other_layouts_lie_elsewhere():
    found = [where(layout).split() for layout in range(6)]
    arrays, libraries = ({fields[index] for fields in found} for index in (4, 5))
    assert len(arrays) == 6
    assert len(libraries) >= 4  # of 512 borders of 2 MiB


def test_otherwise_the_kernel_draws():
    assert where(7, shared=False) != where(7, shared=False)
    assert where(7, shared=False).startswith("drawn by the kernel")


def flags() -> int:
    return ctypes.CDLL(None).personality(ctypes.c_ulong(ONLY_READ))


@needs_sharing
def test_what_was_in_force_comes_back_whatever_happens():
    before = flags()
    inside = []
    with contextlib.suppress(ZeroDivisionError), fixed_addresses():
        inside.append(flags())
        _ = 1 // 0
    assert inside == [before | ADDR_NO_RANDOMIZE]
    assert flags() == before


@pytest.mark.parametrize("refuses", [True, False])
def test_a_system_that_cannot_or_must_not_goes_on_drawing(monkeypatch, refuses):
    class Library:
        if refuses:

            @staticmethod
            def personality(_flags):
                return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    with fixed_addresses():
        pass
