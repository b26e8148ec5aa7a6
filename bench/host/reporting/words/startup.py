"""Writes after how many steps faster steps have made up for a slower start."""

from __future__ import annotations

import math

from .language import _
from .text import EMPTY


def format_break_even(steps: float | None) -> str:
    """Write the number of steps, to two digits as first calls vary: ``4100``, ``at once`` or ``never``."""
    if steps is None:
        return EMPTY
    if math.isinf(steps):
        return _("never")
    return f"{float(f'{math.ceil(steps):.2g}'):.0f}" if steps else _("at once")
