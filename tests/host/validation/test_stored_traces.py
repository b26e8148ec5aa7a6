"""Tests the inference on real measurements: the stored traces of a validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.host.statistics.verdict import DISTURBED, Verdict
from bench.host.validation import summary
from bench.host.validation.validation import looks, read_traces

TRACES = Path(__file__).resolve().parents[3] / "reports" / "reference" / "validation" / "traces.jsonl.gz"


@pytest.fixture(scope="module")
def kinds():
    return {kind.slowdown: kind for kind in summary.kinds(read_traces(TRACES))}


def test_no_cell_is_called_different_from_itself(kinds):
    assert (kinds[0.0].found.count, kinds[0.0].found.of) == (0, 299)


def test_planted_slowdowns_are_found(kinds):
    assert (kinds[0.02].found.count, kinds[0.02].found.of) == (59, 59)
    assert (kinds[0.05].found.count, kinds[0.05].found.of) == (20, 20)


def test_slowdowns_by_the_threshold_are_found_within_a_minute_a_cell(kinds):
    assert all(outcome.trace.seconds / 2 < 60.0 for outcome in kinds[0.02].outcomes)


def test_they_are_of_the_plan_that_is_in_force(kinds):
    """Another plan of looks needs other traces: where a trial stopped depends on it."""
    assert {outcome.trace.looks for kind in kinds.values() for outcome in kind.outcomes} == {looks()}


def test_what_was_planted_is_what_is_said(kinds):
    made = {slowdown: [outcome.trace.planted for outcome in kind.outcomes] for slowdown, kind in kinds.items()}
    assert all(abs(one - slowdown) <= 0.05 * slowdown for slowdown, all_ in made.items() for one in all_)


def test_identical_cells_look_identical_before_any_rule(kinds):
    """P values of true nulls are spread evenly: more than 24 of 299 below 5 % would be rarer than one in fifty."""
    p = [outcome.first_p for outcome in kinds[0.0].outcomes]
    assert len(p) == 299
    assert sum(value <= 0.05 for value in p) <= 24
    assert sum(value <= 0.01 for value in p) <= 8


def test_real_framework_cells_are_among_them(kinds):
    found = {outcome.trace.trial.cell.framework for outcome in kinds[0.0].outcomes}
    assert found == {"numpy", "torch", "tensorflow", "jax"}


def test_identical_cells_are_mostly_shown_to_be_equivalent(kinds):
    """But for those beside which others had the processor, of which that is never said."""
    alone = [outcome for outcome in kinds[0.0].outcomes if outcome.ratio.disturbed <= DISTURBED]
    assert len(alone) > 0.9 * len(kinds[0.0].outcomes)
    assert sum(outcome.verdict is Verdict.EQUIVALENT for outcome in alone) > 0.98 * len(alone)


def test_a_wrong_pairing_would_be_noticed(kinds):
    """The test above can fail: pairs whose sides are exchanged hide the slowdown, or call it a speed-up."""
    exchanged = [
        replace(o.trace, pairs=tuple(replace(p, cell_ns=p.twin_ns, twin_ns=p.cell_ns) for p in o.trace.pairs))
        for o in kinds[0.05].outcomes
    ]
    assert not any(summary.judge(trace).found for trace in exchanged)
