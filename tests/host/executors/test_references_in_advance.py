"""Tests when references of later rows are computed in advance: while something is compiled once, and never again."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import odd_framework
import pytest

from bench.host.executors.events import Finished
from bench.host.executors.local import LocalExecutor
from bench.record import OK

CELL = odd_framework.cell("header")
LATER = replace(CELL, mode="plain", workload="mlp-train")
THREADED = replace(CELL, mode="plain", workload="attention", threads=2)


@pytest.fixture
def measured(tmp_path):
    """Measure a cell that precompiles; return the workloads that have references."""
    sources = odd_framework.make(tmp_path / "source")

    def measure(cell=CELL, **values):
        events = []
        with contextlib.closing(LocalExecutor(tmp_path, tmp_path)) as executor:
            executor.foresee({LATER: None, THREADED: None})
            executor.run(odd_framework.job(sources, cell, cache_kept=True, **values), events.append)
        (record,) = [event.record for event in events if isinstance(event, Finished)]
        assert record.status == OK
        return sorted(path.name.rpartition("-check-")[0] for path in (tmp_path / ".nox" / "references").iterdir())

    return measure


def test_references_with_as_many_threads_are_computed_while_something_is_compiled(measured):
    assert measured() == ["gemm", "mlp-train"]


def test_a_budget_is_not_spent_on_rows_that_may_not_come(measured):
    assert measured(left_s=1000.0) == ["gemm"]


def test_where_nothing_is_compiled_each_row_waits_for_its_own(measured):
    assert measured(odd_framework.cell("plain")) == ["gemm"]
