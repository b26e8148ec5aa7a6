"""Tests when rows stop: settled at a look, at the last look, or with the budget."""

from __future__ import annotations

from dataclasses import replace

from bench.cell import Cell
from bench.host.measuring.stopping import Stops
from bench.host.storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Stop
from bench.record import Record

CELL = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
OTHER = replace(CELL, mode="torchscript")
THIRD = replace(CELL, environment="jax", framework="jax", mode="jit")


def test_a_look_is_given_only_the_rounds_before_it():
    seen = []

    def undecided(records, rounds):
        seen.append((rounds, [record.round for record in records]))
        return [CELL]

    stops = Stops([CELL.row], (2, 4), undecided)
    records = [Record(CELL, number, 1, "ok") for number in range(4)]
    for rounds in range(5):
        stops.look(rounds, records)
    assert seen == [(2, [0, 1])]
    assert stops.made == {CELL.row: Stop(4, MOST_ROUNDS)}


def test_what_is_settled_is_not_judged_again():
    stops = Stops(["a", CELL.row], (1, 2, 3), lambda records, rounds: [CELL] if rounds == 1 else [])
    stops.look(1, [])
    stops.look(2, [])
    assert stops.made == {"a": Stop(1, SETTLED), CELL.row: Stop(2, SETTLED)}


def test_in_a_row_that_goes_on_only_what_a_verdict_needs_goes_on():
    asked = {1: [CELL, THIRD], 2: [CELL, OTHER], 3: [OTHER]}
    stops = Stops([CELL.row], (1, 2, 3, 4), lambda records, rounds: asked[rounds])
    assert stops.going(CELL.row, [CELL, OTHER, THIRD]) == (CELL, OTHER, THIRD)
    stops.look(1, [])
    assert stops.going(CELL.row, [CELL, OTHER, THIRD]) == (CELL, THIRD)
    assert [stops.goes_on(cell) for cell in (CELL, OTHER, THIRD)] == [True, False, True]
    # A verdict that is open again does not bring back what lacks the rounds between.
    stops.look(2, [])
    assert stops.going(CELL.row, [CELL, OTHER, THIRD]) == (CELL,)
    stops.look(3, [])
    assert stops.made == {CELL.row: Stop(3, SETTLED)}


def test_a_row_that_does_not_fit_into_the_budget_stops_while_a_shorter_one_goes_on():
    seconds = [0.0]
    stops = Stops(["long", "short"], (9,), lambda records, rounds: [], 10.0, lambda: seconds[0])
    seconds[0] = 5.0
    assert stops.over("long", 1, 6.0)
    assert not stops.over("short", 1, 4.0)
    assert stops.made == {"long": Stop(1, BUDGET)}


def test_without_a_budget_nothing_but_a_look_stops_a_row():
    assert not Stops(["a"], (9,), lambda records, rounds: []).over("a", 1, 1e9)


def test_the_next_look_is_the_first_one_ahead():
    stops = Stops([], (10, 14, 20), lambda records, rounds: [])
    assert [stops.next_look(rounds) for rounds in (0, 10, 13, 14)] == [10, 14, 14, 20]
