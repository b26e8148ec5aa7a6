"""Tests the warning that other programs disturb a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from laboratory import A, B, C

from bench.host.executors.job import RowRound
from bench.host.measuring.noise_alarm import NoiseAlarm
from bench.record import FAILED, OK, Record

TWO = tuple(replace(cell, threads=2) for cell in (A, B, C))


def row(number, loads, status=OK):
    """Return the records of a row in a round, whose processes had other programs beside them."""
    samples = {"sample_ns": [1000], "sample_steps": [1], "sample_turn": [0]}
    return [Record(cell, number, 1, status, other_load=load, **samples) for cell, load in zip(TWO, loads, strict=True)]


def said(rows):
    lines, records = [], []
    alarm = NoiseAlarm(lines.append)
    for number, found in enumerate(rows):
        records += found
        alarm.note(RowRound(number, TWO[0].row, TWO, 1, (0, 0, 0)), records)
    return lines


def test_a_run_whose_times_cannot_be_used_is_told_once_and_early_with_a_remedy():
    (line,) = said([row(number, [1.0, 1.0, 0.0]) for number in range(8)])
    assert line.startswith("Other programs disturb the run: times of 8 of 12 processes so far cannot be used.")
    assert "--fresh --wait 10m" in line


@pytest.mark.parametrize(
    "rows",
    [
        [row(number, [1.0] * 3) for number in range(3)],
        [row(number, [1.0, 0.0, 0.0]) for number in range(8)],
        [row(number, [1.0] * 3, FAILED) for number in range(8)],
        [],
    ],
    ids=["too few processes", "a third of them", "no times", "nothing"],
)
def test_what_may_be_one_short_disturbance_is_not_told(rows):
    assert said(rows) == []
