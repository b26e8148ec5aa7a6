"""Tests which facts of the machine and variables a worker reports."""

import dataclasses
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from bench.registry import BUILT_IN
from bench.worker import steering

NUMPY = BUILT_IN.facts("numpy")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ("flags\t\t: fpu sse2 sse4_2 avx avx2", "AVX2"),
        ("flags\t\t: fpu sse2 avx2 avx512f avx512_vnni", "AVX-512 VNNI"),
        ("Features\t: fp asimd sve", "SVE"),
        ("flags\t\t: fpu", ""),
        ("", ""),
    ],
)
def test_the_best_instruction_set_is_named(tmp_path, flags, name):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\n" + flags + "\nprocessor\t: 1\n")
    assert steering.instruction_set(str(tmp_path / "cpuinfo")) == name


def test_a_kernel_that_reports_nothing_is_not_an_error(tmp_path):
    assert steering.instruction_set(str(tmp_path / "nothing")) == ""


def test_the_processors_are_those_the_process_may_use():
    assert steering.facts()["processors"] == len(os.sched_getaffinity(0))


def test_a_preloaded_allocator_is_reported(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libjemalloc.so.2")
    assert steering.steering_variables(NUMPY)["LD_PRELOAD"] == "libjemalloc.so.2"


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is of Linux")
def test_a_library_that_was_not_preloaded_is_found(monkeypatch, tmp_path):
    with open("/proc/self/maps") as lines:
        library = next(line.split()[-1] for line in lines if "libc.so" in line or "libc-" in line)
    (tmp_path / "liblinked.so").symlink_to(library)
    (tmp_path / "libother.so").write_bytes(b"")
    named = ["{}/liblinked.so".format(tmp_path), library, "/absent/liblost.so", "{}/libother.so".format(tmp_path)]
    monkeypatch.setenv("LD_PRELOAD", ":".join(named))
    assert steering.not_preloaded() == named[2:]
    monkeypatch.setattr(steering.sys, "platform", "darwin")
    assert steering.not_preloaded() == []
    monkeypatch.delenv("LD_PRELOAD")
    assert steering.not_preloaded() == []


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="names a library of glibc")
def test_a_library_that_is_named_without_its_folder_was_preloaded(tmp_path):
    # Such a name often leads to a file with another one: libtcmalloc.so.4 is libtcmalloc.so.4.5.9.
    with open("/proc/self/maps") as lines:
        library = next(line.split()[-1] for line in lines if "libc.so" in line or "libc-" in line)
    (tmp_path / "libown.so.4.5.9").write_bytes(Path(os.path.dirname(library), "libdl.so.2").read_bytes())
    (tmp_path / "libown.so.4").symlink_to("libown.so.4.5.9")
    code = "from bench.worker import steering; print(steering.not_preloaded())"
    environ = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "LD_PRELOAD": "libown.so.4"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, cwd=str(ROOT), check=True)
    assert done.stdout == b"[]\n"


def test_variables_of_the_framework_are_among_what_steers_but_not_the_folders_of_its_caches(monkeypatch):
    facts = dataclasses.replace(NUMPY, variable_prefixes=("TOY_",), cache_variables={"TOY_CACHE": "toy"})
    for name in ("TOY_CACHE", "TOY_KERNELS", "OTHER_KERNELS"):
        monkeypatch.setenv(name, "x")
    found = steering.steering_variables(facts)
    assert "TOY_KERNELS" in found
    assert "TOY_CACHE" not in found
    assert "OTHER_KERNELS" not in found
