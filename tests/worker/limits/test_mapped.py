"""Tests that a forked process maps what its parent had mapped of files."""

import mmap
import os
import subprocess
import sys

import pytest

from bench.worker.limits import mapped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


def resident_file_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssFile"))


def in_a_fork(function):
    """Return the number that ``function`` returns in a forked process."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, str(function()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as answer:
        return int(answer.read())


def test_a_forked_process_has_as_much_of_its_files_in_memory_as_its_parent(tmp_path):
    path = tmp_path / "library"
    path.write_bytes(b"x" * (64 << 20))
    # A process of its own: around the scattered pages of the many libraries that tests load, a fork maps more of them.
    folder = os.path.dirname(os.path.abspath(__file__))
    program = "import sys; sys.path[:0] = sys.argv[1:3]; import test_mapped; test_mapped.compare(sys.argv[3])"
    subprocess.check_call([sys.executable, "-c", program, folder, os.getcwd(), str(path)])


def compare(path):
    """Assert that a fork has as much of ``path`` and of all other files in memory as this process."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) as library:
        read = sum(library[:: mmap.PAGESIZE][: 32 << 20])
        assert read
        pages = mapped.pages()
        here = resident_file_bytes()
        assert here - in_a_fork(resident_file_bytes) > 48 << 20

        def touched():
            mapped.touch(pages)
            return resident_file_bytes()

        assert abs(here - in_a_fork(touched)) < 4 << 20


def test_pages_that_were_never_read_are_not_listed(tmp_path):
    path = tmp_path / "library"
    path.write_bytes(b"x" * (64 << 20))
    before = sum(len(offsets) for _, offsets in mapped.pages())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED):
        after = sum(len(offsets) for _, offsets in mapped.pages())
    assert (after - before) * mmap.PAGESIZE < 8 << 20
