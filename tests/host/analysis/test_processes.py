"""Tests which samples of a process count: undisturbed ones, from the steady state on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.analysis.processes import timed_by_cell, timed_processes
from bench.host.statistics.warmup import WarmupClass
from bench.record import Record

CELL = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)


def record(sample_ns: list[int], **values: Any) -> Record:
    made = {"sample_steps": [10] * len(sample_ns), "sample_turn": list(range(len(sample_ns))), **values}
    return Record(CELL, 0, 1, "ok", sample_ns=sample_ns, **made)


def test_all_samples_of_a_steady_process_count():
    (found,) = timed_processes([record([1000, 1010] * 10)])
    assert (found.warmup.kind, found.early, found.location.n) == (WarmupClass.FLAT, 0, 20)
    assert found.location.median == found.whole_s == pytest.approx(100.5e-9)
    assert found.turns.turns.tolist() == list(range(20))


def test_samples_before_the_steady_state_do_not():
    (found,) = timed_processes([record([2000] * 8 + [1000, 1001] * 6)])
    assert (found.warmup.kind, found.early, found.location.n) == (WarmupClass.WARM_UP, 8, 12)
    assert found.location.median == pytest.approx(100.05e-9)
    assert found.whole_s == pytest.approx(100.1e-9, rel=0.01)
    assert found.turns.steady_turn == 8


def test_the_trials_of_the_calibration_are_part_of_the_course():
    """A warm-up that is over before the first sample leaves out none."""
    (found,) = timed_processes([record([1000, 1001] * 10, warmup_ns=[300] * 8)])
    assert (found.warmup.kind, found.early) == (WarmupClass.WARM_UP, 0)


def test_a_disturbed_turn_is_no_warm_up():
    samples = [1000, 1001] * 4 + [90_000] * 4 + [1000, 1001] * 4
    disturbed = {str(turn): "somebody" for turn in range(8, 12)}
    (found,) = timed_processes([record(samples, disturbed=disturbed)])
    assert (found.warmup.kind, found.early, found.location.n) == (WarmupClass.FLAT, 0, 16)
    assert set(found.turns.turns.tolist()) == set(range(20)) - {8, 9, 10, 11}


def test_failed_processes_and_those_without_samples_are_none():
    good = record([1000, 1001] * 10)
    bad = [replace(good, status="failed"), replace(good, sample_ns=[], sample_steps=[], sample_turn=[])]
    assert [one.record for one in timed_processes([*bad, good])] == [good]
    assert timed_processes([]) == []


def test_processes_are_grouped_by_cell_and_known_by_round_and_attempt():
    other = replace(CELL, mode="torchscript")
    made = [replace(record([1000] * 12), round=2), replace(record([1000] * 12), cell=other, attempt=3)]
    found = timed_by_cell(made)
    assert {cell: [one.key for one in own] for cell, own in found.items()} == {CELL: [(2, 1)], other: [(0, 3)]}


def test_who_was_crowded_was_disturbed_and_keeps_its_samples():
    (found,) = timed_processes([replace(record([100] * 12), other_load=0.9)])
    assert found.disturbed
    assert len(found.turns.turns) == 12


@given(
    st.lists(st.integers(1, 10**7), min_size=1, max_size=40),
    st.lists(st.integers(1, 10**6), max_size=10),
    st.sets(st.integers(0, 45)),
)
def test_something_is_always_left(sample_ns, warmup_ns, disturbed):
    (found,) = timed_processes(
        [record(sample_ns, warmup_ns=warmup_ns, disturbed={str(turn): "x" for turn in disturbed})]
    )
    assert 1 <= found.location.n <= len(sample_ns)
    assert found.location.n + found.early <= len(sample_ns)
    assert min(sample_ns) / 1e10 <= found.location.median * 1.0000001
    assert found.location.median <= max(sample_ns) / 1e10 * 1.0000001
