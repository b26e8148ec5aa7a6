"""Tests which facts of the machine and variables a worker reports."""

import dataclasses
import os

import pytest

from bench.registry import BUILT_IN
from bench.worker import steering

NUMPY = BUILT_IN.facts("numpy")


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


def test_a_library_that_was_not_preloaded_is_found(monkeypatch, tmp_path):
    maps = tmp_path / "maps"
    (tmp_path / "libreal.so.1.2").write_bytes(b"")
    (tmp_path / "libreal.so").symlink_to("libreal.so.1.2")
    maps.write_text(
        "7f00-7f01 r-xp 00000000 08:01 1 /of/the/system/libknown.so\n"
        "7f01-7f02 r-xp 00000000 08:01 1 {}/libreal.so.1.2\n7f02-7f03 rw-p 00000000 00:00 0\n".format(tmp_path)
    )
    monkeypatch.setenv("LD_PRELOAD", "libknown.so:{}/libreal.so /absent/liblost.so".format(tmp_path))
    assert steering.not_preloaded(str(maps)) == ["/absent/liblost.so"]
    assert steering.not_preloaded(str(tmp_path / "another system")) == []
    monkeypatch.delenv("LD_PRELOAD")
    assert steering.not_preloaded(str(maps)) == []


def test_variables_of_the_framework_are_among_what_steers_but_not_the_folders_of_its_caches(monkeypatch):
    facts = dataclasses.replace(NUMPY, variable_prefixes=("TOY_",), cache_variables={"TOY_CACHE": "toy"})
    for name in ("TOY_CACHE", "TOY_KERNELS", "OTHER_KERNELS"):
        monkeypatch.setenv(name, "x")
    found = steering.steering_variables(facts)
    assert "TOY_KERNELS" in found
    assert "TOY_CACHE" not in found
    assert "OTHER_KERNELS" not in found
