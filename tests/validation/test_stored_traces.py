"""Tests the inference on real measurements: the stored traces of a validation on a busy machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.host.statistics.verdict import Verdict
from bench.host.validation import summary
from bench.host.validation.session import read_traces

TRACES = Path(__file__).resolve().parents[2] / "reports" / "reference" / "validation" / "traces.jsonl.gz"


@pytest.fixture(scope="module")
def kinds():
    return {kind.slowdown: kind for kind in summary.kinds(read_traces(TRACES))}


def test_no_cell_is_called_different_from_itself(kinds):
    assert len(kinds[0.0].outcomes) >= 60
    assert kinds[0.0].found.count == 0


@pytest.mark.parametrize("slowdown", [0.02, 0.05])
def test_every_planted_slowdown_is_found(kinds, slowdown):
    assert kinds[slowdown].outcomes
    assert kinds[slowdown].found.count == len(kinds[slowdown].outcomes)


def test_identical_cells_are_mostly_shown_to_be_equivalent(kinds):
    assert kinds[0.0].count(Verdict.EQUIVALENT) > 0.9 * len(kinds[0.0].outcomes)


def test_a_wrong_pairing_would_be_noticed(kinds):
    """The test above can fail: pairs whose sides are exchanged hide the slowdown, or call it a speed-up."""
    exchanged = [
        replace(o.trace, pairs=tuple(replace(p, cell_ns=p.twin_ns, twin_ns=p.cell_ns) for p in o.trace.pairs))
        for o in kinds[0.05].outcomes
    ]
    assert not any(summary.judge(trace).found for trace in exchanged)
