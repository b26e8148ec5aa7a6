"""Knows the order of measuring: rounds of fresh processes, groups that take turns, and what is left of them after a
break.

Pure functions: the same plan and records always give the same order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.cell import Cell
from bench.record import OK, Record

from ..analysis.given_up import given_up


@dataclass(frozen=True)
class Sitting:
    """One group's turn in one round: a fresh process per cell, alive together, measured in turns."""

    round: int
    row: str
    #: The cells that still have turns to take.
    cells: tuple[Cell, ...]
    #: Which attempt at this row and round this is; more than 1 after a break.
    attempt: int
    #: The turn at which each cell goes on.
    first_turns: tuple[int, ...]


def row_order(rows: Iterable[str], number: int, seed: int) -> list[str]:
    """Give the seeded random order in which one round measures the rows."""
    shuffled = list(rows)
    random.Random(f"{seed}/{number}").shuffle(shuffled)
    return shuffled


def sitting(number: int, row: str, cells: Sequence[Cell], records: Iterable[Record], samples: int) -> Sitting:
    """Say who sits in this round: every cell of the row that has turns left and has not been given up.

    ``records`` are those of the run so far, of all rounds.
    """
    mine = [record for record in records if record.cell.row == row]
    # One number for all: processes that take turns with each other share round and attempt, and are pairs.
    attempt = 1 + max((record.attempt for record in mine if record.round == number), default=0)
    chosen, first_turns = [], []
    for cell in cells:
        own = [record for record in mine if record.cell == cell]
        here = [record for record in own if record.round == number]
        done = max((record.sample_turn[-1] + 1 for record in here if record.sample_turn), default=0)
        if done >= samples or any(record.status != OK for record in here) or given_up(own):
            continue
        chosen.append(cell)
        first_turns.append(done)
    return Sitting(number, row, tuple(chosen), attempt, tuple(first_turns))


def seat_order(seed: int, number: int, row: str, count: int) -> list[int]:
    """Give the order in which ``count`` processes of one round are started and prepared.

    What a process finds depends on who came before it: in one order throughout, a cell that came second was slower than
    itself by 1 % in every pair (nox -s validate). Seeded and random, and every other round is the one before reversed:
    each cell is before each other one equally often.
    """
    order = list(range(count))
    random.Random(f"{seed}/{number // 2}/{row}/seats").shuffle(order)
    return order[::-1] if number % 2 else order


def layout_seed(seed: int, number: int, row: str, attempt: int) -> int:
    """Give the seed of the memory layout that the processes of one sitting share."""
    return random.Random(f"{seed}/{number}/{row}/layout/{attempt}").getrandbits(32)


def turn_order(seed: int, number: int, row: str, turn: int, count: int) -> list[int]:
    """Give the seeded random order in which ``count`` processes take one turn."""
    order = list(range(count))
    random.Random(f"{seed}/{number}/{row}/{turn}").shuffle(order)
    return order
