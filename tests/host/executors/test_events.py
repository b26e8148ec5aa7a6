"""Tests that events survive their line of JSON."""

from __future__ import annotations

import json

import pytest

from bench.cell import Cell
from bench.host.executors.events import (
    Described,
    Finished,
    PeaksFound,
    Progress,
    Ready,
    TurnTaken,
    Waited,
    from_json,
    to_json,
)
from bench.record import Record

SAMPLES = {"sample_steps": [1], "sample_ns": [5], "sample_cpu_ns": [4], "sample_turn": [0]}
RECORD = Record(Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1), 0, 1, "ok", **SAMPLES)


@pytest.mark.parametrize(
    "event",
    [
        Progress("measuring", "a cell"),
        Ready(RECORD),
        TurnTaken("a cell", 1, 2, SAMPLES),
        PeaksFound(
            "torch1/cpu", {"threads": 2, "flops_per_s": {"float32": 1e9}, "bandwidths": [[1, 2.0]], "reasons": {}}
        ),
        Finished(RECORD),
        Waited(1.5),
        Described({"processor": "x", "processors": 2, "gpus": [{"name": "y"}]}),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_survives_its_line(event):
    assert from_json(json.loads(json.dumps(to_json(event)))) == event


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"event": "party"},
        {"event": "turn"},
        {"event": "ready", "record": {}},
        {"event": "peaks", "key": 1, "peaks": {}},
        {"event": "machine", "machine": {"memory_bytes": "all"}},
        {"event": "machine", "machine": ["x"]},
        {"event": "peaks", "key": "torch1/cpu", "peaks": {"flops_per_s": {"float32": "fast"}}},
    ],
)
def test_what_is_no_event_is_refused(values):
    with pytest.raises(ValueError, match=r"not an event|record"):
        from_json(values)
