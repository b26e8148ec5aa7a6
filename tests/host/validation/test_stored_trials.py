"""Tests the inference on real measurements: the stored trials of a validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.host.statistics.verdict import DISTURBED, Verdict
from bench.host.validation import summary
from bench.host.validation.validation import looks, read_trials

TRIALS = Path(__file__).resolve().parents[3] / "reports" / "reference" / "validation" / "traces.jsonl.gz"


@pytest.fixture(scope="module")
def groups():
    return {group.slowdown: group for group in summary.group_trials(read_trials(TRIALS))}


def test_no_cell_is_called_different_from_itself(groups):
    assert (groups[0.0].found.count, groups[0.0].found.of) == (0, 299)


@pytest.mark.long
def test_no_cell_is_called_different_from_itself_with_forked_workers():
    """One of them was disturbed in every pair: a table shows nothing of it."""
    (group,) = summary.group_trials(read_trials(TRIALS.with_name("forked-again.jsonl.gz")))
    assert len(group.trials) == 299
    assert (group.found.count, sum(trial.withheld for trial in group.trials)) == (0, 1)


def test_planted_slowdowns_are_found(groups):
    assert (groups[0.02].found.count, groups[0.02].found.of) == (59, 59)
    assert (groups[0.05].found.count, groups[0.05].found.of) == (20, 20)


def test_slowdowns_by_the_threshold_are_found_within_a_minute_a_cell(groups):
    assert all(trial.data.seconds / 2 < 60.0 for trial in groups[0.02].trials)


def test_they_are_of_the_plan_that_is_in_force(groups):
    """Another plan of looks needs other trials: where each stopped depends on it."""
    assert {trial.data.looks for group in groups.values() for trial in group.trials} == {looks()}


def test_what_was_planted_is_what_is_said(groups):
    made = {slowdown: [trial.data.planted for trial in group.trials] for slowdown, group in groups.items()}
    assert all(abs(one - slowdown) <= 0.05 * slowdown for slowdown, all_ in made.items() for one in all_)


def test_identical_cells_look_identical_before_any_rule(groups):
    """P values of true nulls are spread evenly: more than 24 of 299 below 5 % would be rarer than one in fifty."""
    p = [trial.first_p for trial in groups[0.0].trials]
    assert len(p) == 299
    assert sum(value <= 0.05 for value in p) <= 24
    assert sum(value <= 0.01 for value in p) <= 8


def test_real_framework_cells_are_among_them(groups):
    found = {trial.data.trial.cell.framework for trial in groups[0.0].trials}
    assert found == {"numpy", "torch", "tensorflow", "jax"}


def test_identical_cells_are_mostly_shown_to_be_equivalent(groups):
    """But for those beside which others had the processor, of which that is never said."""
    alone = [trial for trial in groups[0.0].trials if trial.ratio.disturbed <= DISTURBED]
    assert len(alone) > 0.9 * len(groups[0.0].trials)
    assert sum(trial.verdict is Verdict.EQUIVALENT for trial in alone) > 0.98 * len(alone)


def test_a_wrong_pairing_would_be_noticed(groups):
    """The test above can fail: pairs whose sides are exchanged hide the slowdown, or call it a speed-up."""
    exchanged = [
        replace(o.data, pairs=tuple(replace(p, cell_ns=p.twin_ns, twin_ns=p.cell_ns) for p in o.data.pairs))
        for o in groups[0.05].trials
    ]
    assert not any(summary.judge(data).found for data in exchanged)
