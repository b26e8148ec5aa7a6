"""Tests which facts of the machine and variables a worker reports."""

import os

import pytest

from bench.worker import steering


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
    assert steering.steering_variables()["LD_PRELOAD"] == "/usr/lib/libjemalloc.so.2"
