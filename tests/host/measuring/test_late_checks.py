"""Tests in which round the outputs of a cell are checked again after timing."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from laboratory import A, B, C, laboratory

from bench.host.measuring.late_checks import drawn
from bench.host.workers.protocol import Ended
from bench.record import MISMATCH, Record

__all__ = ["laboratory"]
CERTAIN = 3


def record(number: int, *, again: bool, status: str = "ok") -> Record:
    return Record(A, number, 1, status, checked_again=2 if again else None)


def rounds_of(records):
    """Return the rounds in which each cell was checked again."""
    found = {}
    for one in records:
        if one.checked_again:
            found.setdefault(one.cell, []).append(one.round)
    return found


def test_each_round_is_as_probable_as_any_other():
    chance = random.Random(1).random
    seen: Counter[int] = Counter()
    for _ in range(3000):
        records: list[Record] = []
        for number in range(CERTAIN):
            again = bool(drawn([A], number, CERTAIN, records, chance))
            records.append(record(number, again=again))
        seen.update(one.round for one in records if one.checked_again)
    assert sum(seen.values()) == 3000
    assert all(900 < seen[number] < 1100 for number in range(CERTAIN))


def test_the_round_is_drawn_by_the_system_and_differs_between_runs():
    assert len({drawn([A], 0, 2, []) for _ in range(100)}) == 2


@pytest.mark.parametrize("number", [CERTAIN - 1, CERTAIN, CERTAIN + 7])
def test_the_last_certain_round_has_every_cell_that_was_not_checked(number):
    assert drawn([A, B], number, CERTAIN, [record(0, again=True)], lambda: 0.99) == (B.name,)


def test_a_process_that_failed_or_was_killed_does_not_count():
    for one in (record(0, again=True, status="failed"), record(0, again=False)):
        assert drawn([A], CERTAIN - 1, CERTAIN, [one], lambda: 0.99) == (A.name,)


def test_a_run_checks_every_cell_in_one_round_and_leaves_that_to_chance(laboratory):
    laboratory.looks = (CERTAIN,)
    found = rounds_of(laboratory.go([A, B, C]))
    assert {cell: len(rounds) for cell, rounds in found.items()} == {A: 1, B: 1, C: 1}


def test_one_round_is_checked_in_that_round(laboratory):
    laboratory.looks = (1,)
    assert rounds_of(laboratory.go([A, B])) == {A: [0], B: [0]}


def test_with_a_budget_every_round_is_checked_since_it_may_be_the_last(laboratory):
    laboratory.looks, laboratory.budget_s = (CERTAIN,), 1e6
    assert rounds_of(laboratory.go([A])) == {A: [0, 1, 2]}


def test_a_mismatch_in_the_drawn_round_ends_the_cell(laboratory):
    laboratory.looks = (CERTAIN,)
    for number in range(CERTAIN):
        laboratory.stage.ends[A.name, "finish", number] = Ended(MISMATCH, "finish", "after timing, wrong")
    records = [one for one in laboratory.go([A, B]) if one.cell == A]
    assert [one.status for one in records] == ["mismatch"]
