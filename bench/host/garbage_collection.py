"""Pauses the search for cycles of garbage while many values are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Do not search for cycles of garbage within the block.

    A report makes millions of small values that live until it is written. Python looks through all of them again and
    again for cycles, of which there are hardly any: a fifth of the time of a report on 10,000 cells.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
