"""Shows how far a run is: a live line in a terminal, plain lines elsewhere.

Nothing is drawn while a worker measures: the thread that hands out the turns refreshes the display between them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from .renderers import terminal
from .words.language import _
from .words.numbers import duration

#: Drawing takes some milliseconds of processor time, which the measured processes need.
REFRESH_S = 0.5
#: Without a terminal, one line per this many seconds at most.
PLAIN_S = 10.0
#: A narrower terminal has no bar: what is under way takes 60 characters.
WIDE = 100
#: Later rounds find warm caches; used until a row has been seen in a later round.
WARM_SHARE = 0.6


class RemainingTime:
    """Estimates the remaining seconds from how long each row took so far."""

    def __init__(
        self, planned_s: float | None = None, budget_left_s: Callable[[], float | None] = lambda: None
    ) -> None:
        """``planned_s`` is the estimate until the first row has been seen, ``budget_left_s`` limits every estimate."""
        self._planned_s = planned_s
        self._budget_left_s = budget_left_s
        #: What remains: {(round, row): processes}
        self._left: dict[tuple[int, str], int] = {}
        self._seen: dict[str, tuple[int, float]] = {}

    def expect(self, number: int, row: str, processes: int) -> None:
        """Note that a row will be measured in a round."""
        self._left[number, row] = processes

    def done(self, number: int, row: str, seconds: float, *, measured: bool) -> None:
        """Note that a row is done in a round; ``measured`` says whether its seconds tell how long a row takes."""
        self._left.pop((number, row), None)
        if measured:
            self._seen[row] = (number, seconds)

    def remaining_s(self) -> float | None:
        """Return the estimate, at most what is left of the budget; None where nothing was planned or seen."""
        estimate_s, left_s = self._estimate_s(), self._budget_left_s()
        return estimate_s if estimate_s is None or left_s is None else min(estimate_s, max(left_s, 0.0))

    def _estimate_s(self) -> float | None:
        if not self._seen:
            return self._planned_s
        first = [seconds for number, seconds in self._seen.values() if number == 0]
        later = [seconds for number, seconds in self._seen.values() if number > 0]
        cold = sum(first) / len(first) if first else sum(later) / len(later) / WARM_SHARE
        return sum(self._of(number, row, cold) for number, row in self._left)

    @property
    def processes(self) -> int:
        """Return how many processes remain."""
        return sum(self._left.values())

    def next_s(self, number: int, row: str) -> float:
        """Return how long a row will take in a round; 0 where nothing has been seen yet."""
        return self._of(number, row, 0.0)

    def _of(self, number: int, row: str, cold: float) -> float:
        if row not in self._seen:
            return cold if number == 0 else cold * WARM_SHARE
        seen, seconds = self._seen[row]
        return seconds * WARM_SHARE if seen == 0 and number > 0 else seconds


class Display:
    """Shows the cell under way, how many processes are done and what is left."""

    def __init__(self, console: Console, estimate: RemainingTime, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._estimate = estimate
        self._clock = clock
        #: What comes first is shown at once: it may take half a minute.
        self._shown = -math.inf
        self._progress = Progress(
            *([BarColumn(bar_width=12)] if console.width >= WIDE else []),
            # One column, so that a narrow terminal cuts off only what is under way.
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            console=console,
            auto_refresh=False,
            transient=True,
        )
        self._task = self._progress.add_task(_("starting"), total=None)

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._console.is_terminal:
            self._progress.stop()

    def at(self, what: str, done: int, *, brief: bool = False) -> None:
        """Show what is under way; ``done`` processes are over.

        What is ``brief`` (a turn) is shown only now and then, so that this can be called between any two turns. A
        terminal shows everything else at once.
        """
        now = self._clock()
        interval = PLAIN_S if not self._console.is_terminal else REFRESH_S if brief else 0.0
        if now - self._shown < interval:
            return
        self._shown = now
        left = _left(self._estimate.remaining_s())
        # Before the first round nothing is counted: the peaks of the machine are measured.
        total = done + self._estimate.processes
        text = "  ".join(filter(None, (f"{done}/{total}" if total else "", left, what)))
        if self._console.is_terminal:
            self._progress.update(self._task, description=text.replace("[", "\\["), completed=done, total=total or None)
            self._progress.refresh()
        else:
            terminal.say(self._console, text)


def _left(seconds: float | None) -> str:
    return _("{time} left", time=duration(seconds)) if seconds is not None else ""
