"""The comparison of forms: their environment variables, and what a turn becomes in the table."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from benchmarks import forms

FILE = """
FORMS = {"kept": {"MALLOC_MMAP_MAX_": "0"}, "other": {"module:function": print, "SOME_VARIABLE": "1"}}
"""


@pytest.fixture
def program(monkeypatch):
    """The program of a form, which a process with a number of threads imports."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return importlib.import_module("benchmarks._form")


def test_names_without_a_colon_are_environment_variables(tmp_path, program):
    path = tmp_path / "some.py"
    path.write_text(FILE)
    assert forms.forms_of(path, (sys.executable,), {}) == {
        "kept": {"MALLOC_MMAP_MAX_": "0"},
        "other": {"SOME_VARIABLE": "1"},
    }
    assert program.replacements(str(path), "kept") == {}
    assert program.replacements(str(path), "other") == {"module:function": print}


def test_a_form_is_compared_with_the_present_one_turn_by_turn():
    present, kept = [[1.0, 20], [2.0, 20], [4.0, 20]], [[0.5, 0], [1.0, 0], [2.0, 9]]
    measured = {forms.PRESENT: np.array(present), "kept": np.array(kept)}
    assert forms.summary(measured, "kept") == ["1000000.0", "0.500", "0.500 to 0.500", "0"]
    assert forms.summary(measured, "differs") == ["-"] * 4


def test_a_touched_page_is_a_page_fault(program):
    before = program.faults()
    np.ones(1 << 24)  # 128 MiB, which the C library gets from the kernel
    assert program.faults() > before
