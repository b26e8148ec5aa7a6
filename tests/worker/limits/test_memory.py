"""Tests what counts as the memory of a cell."""

import gc
import mmap

import pytest

from bench.worker.limits import memory

MIB = 1 << 20


@pytest.fixture(autouse=True)
def needs_a_peak_that_can_be_reset():
    if not memory.forget_peak():
        pytest.skip("this kernel cannot reset the peak")


@pytest.fixture(autouse=True)
def no_collection_of_garbage():
    """Keep the collector from giving back what other tests have left."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Library:
    """16 MiB of a mapped file, whose pages are taken back by unmapping it: Python 3.7 cannot ask the kernel to."""

    def __init__(self, path):
        self._path = path
        self.read()

    def read(self):
        """Have all pages resident."""
        with self._path.open("rb") as file:
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        for page in range(0, len(self._mapped), mmap.PAGESIZE):
            self._mapped[page]

    def take_back(self):
        self._mapped.close()


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "library"
    path.write_bytes(bytes(16 * MIB))
    made = Library(path)
    yield made
    made.take_back()


def test_freed_memory_does_not_count_in_the_peak():
    kept = [bytes(1000) for _ in range(200_000)]
    high = memory.peak_bytes()
    del kept
    assert memory.forget_peak()
    assert memory.peak_bytes() < high - (100 << 20)


def test_the_peak_is_counted_from_the_baseline():
    baseline = memory.Baseline()
    baseline.note()
    assert baseline.forget_peak()
    used = bytearray(32 * MIB)
    assert 32 * MIB <= baseline.above() < 40 * MIB
    del used


def test_what_was_preloaded_for_the_cell_is_its_own():
    baseline = memory.Baseline()
    baseline.note(preloaded_bytes=24 * MIB)
    assert baseline.forget_peak()
    assert 24 * MIB <= baseline.above() < 32 * MIB


def test_pages_of_libraries_that_the_kernel_took_back_are_not_returned_memory(library):
    baseline = memory.Baseline()
    baseline.note()
    library.take_back()
    assert baseline.forget_peak()
    assert memory.peak_bytes() < baseline.bytes - 8 * MIB
    used = bytearray(4 * MIB)
    assert 4 * MIB <= baseline.above() < 8 * MIB
    del used


def test_pages_of_libraries_that_came_back_are_counted_once(library):
    baseline = memory.Baseline()
    baseline.note()
    library.take_back()
    assert baseline.forget_peak()
    library.read()
    assert baseline.above() < 4 * MIB
