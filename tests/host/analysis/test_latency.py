"""Tests when a cell has a latency, and that it is the quantiles of the samples that count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.analysis.latency import FEWEST, latency_of
from bench.host.analysis.processes import timed_processes
from bench.record import Record

CELL = Cell("torch1", "torch", "eager", "resnet18", "single", "float32", "cpu", 1)


def record(sample_ns: list[int], round: int = 0, **values: Any) -> Record:
    made = {"sample_steps": [1] * len(sample_ns), "sample_turn": list(range(len(sample_ns))), **values}
    return Record(CELL, round, 1, "ok", sample_ns=sample_ns, **made)


def drawn(count: int, seed: int) -> list[int]:
    found: list[int] = np.random.default_rng(seed).lognormal(13.8, 0.2, count).astype(int).tolist()
    return found


def test_it_is_the_median_over_processes_of_their_quantiles():
    records = [record(drawn(300, seed), seed) for seed in range(3)]
    found = latency_of(timed_processes(records))
    each = np.array([np.quantile(one.sample_ns, [0.5, 0.99]) / 1e9 for one in records])
    assert found is not None
    assert (found.p50_s, found.p99_s) == pytest.approx(np.median(each, axis=0).tolist())
    assert found.p99_s > 1.3 * found.p50_s


def test_samples_of_several_steps_have_none():
    """Their means would show a tail that is too short."""
    whole = record(drawn(300, 1))
    assert latency_of(timed_processes([whole])) is not None
    assert latency_of(timed_processes([whole, replace(whole, round=1, sample_steps=[1] * 299 + [2])])) is None


def test_processes_with_few_samples_do_not_count():
    enough, few = record(drawn(FEWEST, 1)), record(drawn(FEWEST - 1, 2), 1)
    assert latency_of(timed_processes([enough, few])) == latency_of(timed_processes([enough]))
    assert latency_of(timed_processes([few])) is None
    assert latency_of([]) is None


def test_samples_of_the_warm_up_and_of_disturbed_turns_do_not_count():
    steady = [1_000_000, 1_000_001] * 60
    (process,) = timed_processes([record([9_000_000] * 8 + steady)])
    assert process.early == 8
    found = latency_of([process])
    assert found is not None
    assert found.p99_s == pytest.approx(1e-3, rel=1e-5)
    disturbed = record([*steady, *[9_000_000] * 8], disturbed={str(turn): "somebody" for turn in range(120, 128)})
    assert latency_of(timed_processes([disturbed])) == found
