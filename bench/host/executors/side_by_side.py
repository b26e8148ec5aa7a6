"""Lets several processes do something at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

Process = TypeVar("Process")


def side_by_side(
    processes: Sequence[Process],
    together: int,
    begin: Callable[[Process], None],
    end: Callable[[Process], None],
) -> None:
    """Begin and end something with every process, in their order; at most ``together`` have begun and not ended."""
    waiting = iter(processes)
    for process in itertools.islice(waiting, together):
        begin(process)
    for process in processes:
        end(process)
        for next_one in itertools.islice(waiting, 1):
            begin(next_one)
