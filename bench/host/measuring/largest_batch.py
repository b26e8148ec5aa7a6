"""Finds the largest batch of a cell that fits under a cap of memory: the fairest comparison of memory use.

Every attempt is a fresh process: memory that a failed one did not release would count against the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.cell import Cell
from bench.record import MISMATCH, OK, OUT_OF_MEMORY, UNSUPPORTED

from ..statistics.largest_fit import largest_fit
from ..workers.protocol import Ended, Transport, ask

#: The first size to try; each doubling from there needs another process.
FIRST = 32
MOST = 1 << 20
#: Seconds for one stage of an attempt; a large step may be slow.
TIMEOUT_S = 300.0
#: An attempt that ended in one of these stages, or with one of these statuses, would do so at any size.
EARLY_STAGES = ("environment", "start", "import")
HOPELESS = (UNSUPPORTED, MISMATCH)


@dataclass(frozen=True)
class Attempt:
    """One process with one size."""

    batch: int
    #: ``ok`` when it fitted.
    status: str
    reason: str | None
    #: Peak memory on the device that computed; None where the attempt did not fit.
    peak_bytes: int | None
    seconds: float


@dataclass(frozen=True)
class LargestBatch:
    """The result of a search."""

    cap_bytes: int
    attempts: tuple[Attempt, ...]
    #: ``ok``, or how the smallest attempt ended when nothing fits.
    status: str
    #: Why nothing fits; or how the next larger attempt ended, where that was not a lack of memory.
    reason: str | None
    #: The largest batch that fits, the items it holds and what an item is; 0 when nothing fits.
    batch: int = 0
    items: int = 0
    item: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class _Hopeless(Exception):
    """No other size can fit."""


class _Search:
    """The attempts at one cell."""

    def __init__(self, cell: Cell, cap_bytes: int, seed: int, start: Callable[[Cell], Transport]) -> None:
        self._cell = cell
        self._cap_bytes = cap_bytes
        self._seed = seed
        self._start = start
        self.attempts: list[Attempt] = []
        self.fitted: dict[int, dict[str, Any]] = {}

    def fits(self, batch: int) -> bool:
        began = time.monotonic()
        try:
            answer = self._try(batch)
        except Ended as ended:
            self._note(batch, ended.status, ended.reason, None, began)
            if ended.status in HOPELESS or ended.stage in EARLY_STAGES:
                raise _Hopeless from ended
            return False
        self.fitted[batch] = answer
        self._note(batch, OK, None, int(answer["peak_bytes"]), began)
        return True

    def _note(self, batch: int, status: str, reason: str | None, peak_bytes: int | None, began: float) -> None:
        self.attempts.append(Attempt(batch, status, reason, peak_bytes, time.monotonic() - began))

    def _try(self, batch: int) -> dict[str, Any]:
        """Try one size in a process of its own; raises Ended when it does not fit, or fails in another way."""
        worker = self._start(self._cell)
        try:
            ask(worker, TIMEOUT_S, do="import", cell=self._cell.to_json(), cap_bytes=self._cap_bytes)
            answer = ask(worker, TIMEOUT_S, do="fit", seed=self._seed, items=batch)
            worker.close()
            return answer
        finally:
            worker.kill()


def _limit(attempts: Sequence[Attempt], batch: int, most: int) -> str | None:
    """Return the reason, other than memory, why the batch is not larger; None where memory is the reason."""
    if batch == most:
        return f"none larger than {most} was tried"
    above = min((one for one in attempts if one.batch > batch), key=lambda one: one.batch, default=None)
    if above is None or above.status == OUT_OF_MEMORY:
        return None
    return f"{above.batch} ended with {above.status}: {above.reason or 'no reason was recorded'}"


def measure(
    cell: Cell, cap_bytes: int, seed: int, start: Callable[[Cell], Transport], *, first: int = FIRST, most: int = MOST
) -> LargestBatch:
    """Find the largest batch of ``cell`` under ``cap_bytes``; the import of the framework does not count.

    On a processor the cap limits the private memory of the process, on a GPU the framework's allocator. An attempt that
    times out or fails counts as one that does not fit; its reason is kept.
    """
    search = _Search(cell, cap_bytes, seed, start)
    try:
        batch = largest_fit(search.fits, first, most)
    except _Hopeless:
        batch = max(search.fitted, default=0)
    attempts = tuple(search.attempts)
    if not batch:
        return LargestBatch(cap_bytes, attempts, attempts[-1].status, attempts[-1].reason)
    answer = search.fitted[batch]
    return LargestBatch(
        cap_bytes, attempts, OK, _limit(attempts, batch, most), batch, int(answer["items"]), str(answer["item"])
    )
