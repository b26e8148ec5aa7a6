"""Tests what is read off the process: allocator, threads, OpenBLAS."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from bench.frameworks import loaded

ROOT = Path(__file__).resolve().parents[2]
PRELOADED = """
#include <stddef.h>
void *__libc_malloc(size_t size);
void *malloc(size_t size) { return __libc_malloc(size); }
"""


def test_malloc_is_named():
    assert loaded.malloc().startswith("malloc of ")


def test_a_worker_reports_what_serves_malloc_where_it_can_be_found(monkeypatch):
    assert loaded.allocator() == {"allocator": loaded.malloc()}
    monkeypatch.setattr(loaded, "malloc", lambda: None)
    assert loaded.allocator() == {}


def test_a_preloaded_malloc_is_named(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "mine.c").write_text(PRELOADED)
    library = tmp_path / "libmine.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "mine.c")], check=True)
    done = subprocess.run(
        [sys.executable, "-c", "from bench.frameworks import loaded; print(loaded.malloc())"],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "malloc of libmine.so"


def test_threads_are_counted_by_name():
    name = Path("/proc/self/comm").read_text().strip()
    before = loaded.threads_named(name)
    assert before >= 1
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait)
    thread.start()
    # A new thread inherits the name of its parent, or has that which Python gives it.
    during = loaded.threads_named("")
    wait.set()
    thread.join()
    # The kernel lists a thread for a moment after it was joined.
    deadline = time.monotonic() + 10
    while loaded.threads_named("") >= during and time.monotonic() < deadline:
        time.sleep(0.01)
    assert during > loaded.threads_named("")
    assert loaded.threads_named("no such name") == 0


def test_openblas_tells_its_threads(tmp_path):
    if not any("openblas" in os.path.basename(path) for path in loaded.libraries()):
        pytest.skip(f"NumPy {np.__version__} was built without OpenBLAS here")
    for threads in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", "import numpy; from bench.frameworks import loaded; print(loaded.openblas())"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"'threads': {min(int(threads), len(loaded.processors()))}" in done.stdout
        assert "'kernels'" in done.stdout
