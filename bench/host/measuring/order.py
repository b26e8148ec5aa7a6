"""Decides the order of the rows in a round, and which cells of a row have turns left.

The functions are pure: the same plan and records always give the same order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from bench.cell import Cell
from bench.record import OK, Record

from ..analysis.retries import is_given_up
from ..executors.job import RowRound


def row_order(rows: Iterable[str], number: int, seed: int) -> list[str]:
    """Return the seeded random order in which round ``number`` measures the rows."""
    shuffled = list(rows)
    random.Random(f"{seed}/{number}").shuffle(shuffled)
    return shuffled


def row_round(number: int, row: str, cells: Sequence[Cell], records: Iterable[Record], samples: int) -> RowRound:
    """Return what is left of a row in round ``number``: every cell that has turns left and was not given up.

    ``records`` are those of the run so far, of all rounds; ``samples`` is the number of turns of a process.
    """
    mine = [record for record in records if record.cell.row == row]
    # One number for all cells: processes that take turns with each other share round and attempt, and are pairs.
    attempt = 1 + max((record.attempt for record in mine if record.round == number), default=0)
    chosen, first_turns = [], []
    for cell in cells:
        own = [record for record in mine if record.cell == cell]
        here = [record for record in own if record.round == number]
        done = max((record.sample_turn[-1] + 1 for record in here if record.sample_turn), default=0)
        if done >= samples or any(record.status != OK for record in here) or is_given_up(own):
            continue
        chosen.append(cell)
        first_turns.append(done)
    return RowRound(number, row, tuple(chosen), attempt, tuple(first_turns))
