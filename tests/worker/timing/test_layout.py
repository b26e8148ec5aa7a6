"""Tests that every process has its own memory layout."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bench.worker.limits import memory
from bench.worker.timing import layout

#: Prints where within its page the C library puts an array of so many bytes.
WHERE = "import ctypes; malloc = ctypes.CDLL(None).malloc; malloc.restype = ctypes.c_void_p; print(malloc({}) % 4096)"
SCATTER = "from bench.worker.timing import layout; kept = layout.Layout({}); kept.scatter()\n"
#: Prints whether an array of 4 MiB is in the heap, where it can be used again, or has pages of its own.
IN_HEAP = """
import ctypes
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
address = malloc(4 << 20)
heap = next(line for line in open("/proc/self/maps") if line.rstrip().endswith("[heap]"))
low, high = (int(bound, 16) for bound in heap.split()[0].split("-"))
print(low <= address < high)
"""


def places(code: str) -> set[str]:
    """Return where arrays lay in eight processes."""
    run = [sys.executable, "-c", code]
    return {subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(8)}


@pytest.mark.parametrize("size", [9000, 60_000])
def test_arrays_lie_elsewhere_in_every_process(size):
    """Of eight places among 256, fewer than five different ones have a probability of one in ten million."""
    assert len(places(SCATTER.format("") + WHERE.format(size))) >= 5


def test_without_random_blocks_arrays_lie_at_the_same_place():
    """The place depends only on earlier allocations, so without random blocks it never changes."""
    assert len(places(WHERE.format(9000))) == 1


def test_processes_that_share_a_seed_share_a_layout():
    assert len(places(SCATTER.format(7) + WHERE.format(9000))) == 1


#: Prints where arrays lie in each of sixteen turns: three, as one may find the same room in most of them.
TURNS = (
    SCATTER.format(7)
    + """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
for turn in range(16):
    kept.scatter(turn)
    arrays = [libc.malloc(size) for size in (9000, 30000, 60000)]
    print(*(array % 4096 for array in arrays), sep="-")
    for array in arrays:
        libc.free(array)
"""
)


def test_turns_have_different_layouts_which_processes_share():
    """Two turns may have the same layout: freed blocks can leave the same room as earlier ones."""
    (found,) = places(TURNS)
    assert len(set(found.split())) >= 5


def test_a_process_that_missed_a_turn_has_the_layout_of_its_neighbours():
    one, other = layout.Layout(7), layout.Layout(7)
    one.scatter(0)
    assert one.scatter(1) == other.scatter(1)
    assert list(map(len, one._kept)) == list(map(len, other._kept))
    assert layout.Layout(8).scatter(1) != one.scatter(1)


def test_blocks_are_kept_until_the_next_are_there():
    kept = layout.Layout(1)
    for turn in range(3):
        taken = kept.scatter(turn)
        assert len(kept._kept) == layout.BLOCKS
        assert sum(map(len, kept._kept)) == taken
        assert len(set(map(len, kept._kept))) > layout.BLOCKS // 2


def test_what_is_loaded_later_moves_by_whole_pages():
    shift = "from bench.worker.timing import layout; kept = layout.Layout({}); kept.shift()\n"
    where = "import mmap; print(kept.shift())"
    assert len(places(shift.format(7) + where)) == 1
    assert len(places(shift.format("") + where)) >= 5
    assert all(int(size) % 4096 == 0 < int(size) <= 1 << 30 for size in places(shift.format("") + where))


def test_a_process_with_few_addresses_is_not_moved():
    few = "import resource; resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))\n"
    shift = "from bench.worker.timing import layout; print(layout.Layout(1).shift())"
    assert layout.Layout(1).shift() > 256 << 20
    assert places(few + shift) == {"0\n"}


def test_the_gap_needs_no_memory():
    before = memory.peak_bytes()
    kept = layout.Layout(1)
    assert kept.shift() > 8 << 20
    assert memory.peak_bytes() - before < 4 << 20


def test_a_settled_allocator_keeps_large_arrays_in_the_heap():
    """Only the GNU C library has thresholds that move."""
    settle = "from bench.worker.timing import layout; layout.settle_allocator()\n"
    assert places(IN_HEAP) == {"False\n"}
    assert places(settle + IN_HEAP) == {"True\n"}


def test_settling_the_allocator_needs_no_memory():
    """In a process of its own, as a worker is: what other tests left in the heap counts, too."""
    grown = (
        "from bench.worker.limits import memory; from bench.worker.timing import layout; before = memory.peak_bytes(); "
        "layout.settle_allocator(); print(memory.peak_bytes() - before)"
    )
    assert max(map(int, places(grown))) < 4 << 20
