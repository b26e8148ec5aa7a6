"""Draws the round in which the outputs of a cell are checked again after timing.

Once for each cell finds a program that is wrong after its first steps, and costs a third of the time of a check in each
of three processes. Which round it is, is drawn when the round begins, from the system's source of chance: no program
can know it before its last turn. A mismatch in one round is the status of the whole cell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from bench.cell import Cell
from bench.record import OK, Record

CHANCE = random.SystemRandom().random


def drawn(
    cells: Sequence[Cell],
    number: int,
    certain: int,
    records: Iterable[Record],
    chance: Callable[[], float] = CHANCE,
) -> tuple[str, ...]:
    """Return the names of the cells that are checked again in round ``number``.

    ``certain`` is how many rounds are measured in any case: each of them is as probable as any other, and the last one
    has all cells that ``records``, those of the run so far, do not show as checked.
    """
    records = list(records)
    checked = {record.cell for record in records if record.status == OK and record.checked_again}
    rounds_left = max(1, certain - number)
    return tuple(cell.name for cell in cells if cell not in checked and chance() * rounds_left < 1)
