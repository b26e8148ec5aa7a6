"""Lets several processes of a row do something at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from .cell_process import CellProcess


def side_by_side(
    processes: Sequence[CellProcess],
    together: int,
    begin: Callable[[CellProcess], None],
    end: Callable[[CellProcess], None],
) -> None:
    """Begin and end something with every process, in their order; at most ``together`` have begun and not ended."""
    waiting = iter(processes)
    for process in itertools.islice(waiting, together):
        begin(process)
    for process in processes:
        end(process)
        for next_one in itertools.islice(waiting, 1):
            begin(next_one)
