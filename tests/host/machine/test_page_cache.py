"""Tests that files are placed anew in memory, and that they stay in the page cache."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import struct
from pathlib import Path

import numpy as np
import pytest

from bench.host.machine import page_cache

PAGE = mmap.PAGESIZE
#: Larger than a piece, and no multiple of a page.
SIZE = 3 * page_cache.PIECE_BYTES + 5 * PAGE + 17


@pytest.fixture
def folder():
    """A folder on a disk: a temporary folder may lie in memory, where nothing is placed anew."""
    place = Path(__file__).resolve().parents[3] / ".nox" / "page-cache"
    place.mkdir(parents=True, exist_ok=True)
    yield place
    for file in place.iterdir():
        file.unlink()
    place.rmdir()


def written(path: Path) -> Path:
    path.write_bytes(np.random.default_rng(1).bytes(SIZE))
    descriptor = os.open(path, os.O_RDONLY)
    # Pages that are not on the disk yet cannot leave the cache.
    os.fsync(descriptor)
    os.close(descriptor)
    return path


def cached(path: Path) -> list[tuple[int, int]]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return list(page_cache._held(descriptor))
    finally:
        os.close(descriptor)


def frames(path: Path) -> list[int]:
    """Return the physical pages of a file; zeros where only root may know them."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view,
        Path("/proc/self/pagemap").open("rb") as table,
    ):
        bytes(view)  # Every page is looked at, so that it is mapped.
        address = np.frombuffer(view, dtype=np.uint8).ctypes.data
        table.seek(8 * (address // PAGE))
        count = -(-len(view) // PAGE)
        return [entry & ((1 << 55) - 1) for entry in struct.unpack(f"{count}Q", table.read(8 * count))]


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def test_what_was_cached_is_cached_again_and_nothing_else(folder):
    whole, part = written(folder / "whole.so"), written(folder / "part.so")
    descriptor = os.open(part, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    os.pread(descriptor, 1, 2 * PAGE)
    before = cached(part)
    assert cached(whole)[-1][1] == SIZE
    assert before[-1][1] < SIZE
    placed = page_cache.place_anew([whole, part], random())
    os.close(descriptor)
    assert placed == SIZE + sum(end - start for start, end in before)
    assert cached(whole)[-1][1] == SIZE
    assert whole.read_bytes() == part.read_bytes() == np.random.default_rng(1).bytes(SIZE)


def test_most_pages_lie_elsewhere_afterwards(folder):
    file = written(folder / "library.so")
    before = frames(file)
    if not any(before):
        pytest.skip("only root may see physical pages")
    # The kernel moves single pages by itself where memory is short.
    assert moved(before, frames(file)) < len(before) / 10
    page_cache.place_anew([file], random())
    assert moved(before, frames(file)) > len(before) / 2


def moved(before: list[int], after: list[int]) -> int:
    """Count the pages that lie elsewhere."""
    return sum(one != other for one, other in zip(before, after, strict=True))


def test_more_files_than_a_process_may_open_are_placed(folder):
    files = [folder / f"{number}.so" for number in range(2 * page_cache.FILES_AT_ONCE)]
    for file in files:
        file.write_bytes(b"code")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (now + page_cache.FILES_AT_ONCE + 20, hard))
    try:
        assert page_cache.place_anew(files, random()) == 4 * len(files)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_cannot_be_read_is_left_out(tmp_path):
    link, pipe, empty = tmp_path / "link.so", tmp_path / "pipe.so", tmp_path / "empty.so"
    link.symlink_to(written(tmp_path / "file.so"))
    os.mkfifo(pipe)
    empty.touch()
    assert page_cache.place_anew([link, empty, tmp_path / "missing.so", tmp_path], random()) == 0
    assert page_cache.place_anew([pipe], random()) == 0


def test_files_of_others_are_left_out(tmp_path, monkeypatch):
    file = written(tmp_path / "file.so")
    monkeypatch.setattr(os, "geteuid", lambda: 12345 + file.stat().st_uid)
    assert page_cache.place_anew([file], random()) == 0


def test_a_refusal_of_the_system_leaves_a_file_out(tmp_path, monkeypatch):
    class Refusing:
        def mincore(self, *_):
            return -1

    file = written(tmp_path / "file.so")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Refusing())
    assert page_cache.place_anew([file], random()) == 0


def test_libraries_are_found_by_their_names(tmp_path):
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    for name in ("a.so", "lib/b.so.1.2", "lib/deep/c.cpython-311-x86_64-linux-gnu.so", "d.py", "lib/so", "e.sources"):
        (tmp_path / name).touch()
    found = {file.relative_to(tmp_path).as_posix() for file in page_cache.libraries(tmp_path)}
    assert found == {"a.so", "lib/b.so.1.2", "lib/deep/c.cpython-311-x86_64-linux-gnu.so"}
