"""Leaves out the last parts of the grid where a machine is too slow for them, and says which."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

#: The option with the minutes that all parts may take.
OPTION = "--minutes"


def taken_from(words: Sequence[str]) -> tuple[float, list[str]]:
    """Return the minutes that these words allow, and the other words; raises ValueError for what is no number."""
    if OPTION not in words:
        return math.inf, list(words)
    place = words.index(OPTION)
    value = "".join(words[place + 1 : place + 2])
    if not value.isdecimal():
        raise ValueError(f"{OPTION}: {value!r} is no number of minutes; give a whole one, such as {OPTION} 60")
    return float(value), [*words[:place], *words[place + 2 :]]


class TimeLeft:
    """Tells whether a part would be done in time, by how long those before it took on this machine."""

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._minutes = minutes
        self._clock = clock
        self._start = clock()
        #: What the parts that began take elsewhere.
        self._usual = 0.0
        #: The parts for which no time was left.
        self.left_out: list[str] = []

    def begin(self, usual_minutes: float) -> None:
        """Count a part that is done in any case, and takes these minutes elsewhere."""
        self._usual += usual_minutes

    def suffices_for(self, part: str, usual_minutes: float) -> bool:
        """Return whether a part that takes these minutes elsewhere would be done in time; note it where not."""
        passed = (self._clock() - self._start) / 60
        pace = passed / self._usual if self._usual else 1.0
        suffices = passed + usual_minutes * pace <= self._minutes
        if suffices:
            self.begin(usual_minutes)
        else:
            self.left_out.append(part)
        return suffices
