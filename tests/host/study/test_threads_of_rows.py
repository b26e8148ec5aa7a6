"""Tests how many threads the rows of a plan have, and that names and preview tell them apart."""

from __future__ import annotations

import re

import pytest
from example_study import options, plan_of, rows, with_threads

from bench.host.commands import study_options
from bench.host.machine.processors import physical_cores
from bench.host.reporting.preview import preview
from bench.host.study import selection
from bench.host.study.selection import Selection, select


def test_all_threads_are_the_physical_cores_available() -> None:
    assert plan_of("--threads", "all").threads == physical_cores()


def test_each_number_of_threads_is_a_row() -> None:
    assert rows(select(with_threads([1, 3]), Selection())) == {
        "transformer-encoder/tiny/float32/cpu/1-thread": 1,
        "transformer-encoder/tiny/float32/cpu/3-threads": 3,
        "mlp-train/tiny/float32/cpu/1-thread": 1,
        "mlp-train/tiny/float32/cpu/3-threads": 3,
    }


def test_one_number_of_threads_is_in_no_row_name() -> None:
    plan = select(with_threads([2], workload=1), Selection())
    assert rows(plan) == {"transformer-encoder/tiny/float32/cpu": 2, "mlp-train/tiny/float32/cpu": 1}
    assert plan.threads == 2


def test_all_and_one_are_one_row_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "physical_cores", lambda: 1)
    plan = select(with_threads([1, "all"]), Selection())
    assert rows(plan) == {"transformer-encoder/tiny/float32/cpu": 1, "mlp-train/tiny/float32/cpu": 1}


def test_the_threads_of_the_command_line_are_those_of_every_workload() -> None:
    plan = study_options.plan(with_threads(1, workload=[1, 3]), options("--threads", "2,4"), environments=["old"])
    assert sorted(rows(plan).values()) == [2, 2, 4, 4]


def test_the_preview_names_the_threads_and_those_that_share_processors() -> None:
    text = preview(select(with_threads([1, 999]), Selection()))
    assert "8 cells in 4 rows and 2 columns, 0 left out; 1 thread · 999 threads." in text
    assert re.search(r"999 threads will share \d+ processors?; give --threads all for one thread per core\.", text)
