"""Knows how to find the largest batch of a cell that fits under a cap of memory: the fairest comparison of its use.

Every attempt is a fresh process, since what a failed one leaves behind would count against the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.cell import Cell
from bench.record import MISMATCH, OK, OUT_OF_MEMORY, UNSUPPORTED

from ..workers.protocol import Ended, Transport

#: From this size on, a result within ``TOLERANCE`` of the largest is close enough.
EXACT_BELOW = 64
TOLERANCE = 0.02
#: The first size to try; another process is needed for each doubling from there.
FIRST = 32
MOST = 1 << 20
#: For one stage of an attempt; a large step is allowed to be slow.
TIMEOUT_S = 300.0
#: What ended in one of these stages, or with one of these statuses, would end so at any size.
EARLY_STAGES = ("environment", "start", "import")
HOPELESS = (UNSUPPORTED, MISMATCH)


@dataclass(frozen=True)
class Attempt:
    """One process with one size."""

    batch: int
    #: ``ok`` when it fitted.
    status: str
    reason: str | None
    #: What it used at most, on the device that computed, where that is told.
    peak_bytes: int | None
    seconds: float


@dataclass(frozen=True)
class LargestBatch:
    """What a search came to."""

    cap_bytes: int
    attempts: tuple[Attempt, ...]
    #: ``ok``, or how the smallest attempt ended when nothing fits.
    status: str
    #: Why nothing fits; or what ended the next larger attempt, where that was not a lack of memory.
    reason: str | None = None
    #: The largest batch that fits, the items it holds and what an item is; 0 when nothing fits.
    batch: int = 0
    items: int = 0
    item: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def close_enough(fitting: int, failing: int) -> bool:
    return failing - fitting <= max(1.0, TOLERANCE * fitting if fitting >= EXACT_BELOW else 1.0)


def largest(fits: Callable[[int], bool], start: int, most: int) -> int:
    """Return a size that fits while one that is hardly larger does not; ``most`` where that fits, 0 where none does.

    No size is tried twice. Where ``fits`` is not monotonic, the result still is a size that was seen to fit, and the
    next that was tried above it did not.
    """
    fitting, failing = 0, most + 1
    size = min(start, most)
    while not close_enough(fitting, failing):
        if fits(size):
            fitting = size
        else:
            failing = size
        # Double until something fails, halve until something fits, then meet in the middle.
        size = min(2 * fitting, most) if failing > most else (fitting + failing) // 2
    return fitting


class _Hopeless(Exception):
    """No other size would do better."""


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
            answer = self._ask(batch)
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

    def _ask(self, batch: int) -> dict[str, Any]:
        """Try one size in a process of its own; raises Ended when it does not fit, or for any other reason."""
        worker = self._start(self._cell)
        try:
            worker.send(do="import", cell=self._cell.to_json(), cap_bytes=self._cap_bytes)
            worker.receive(TIMEOUT_S)
            worker.send(do="fit", seed=self._seed, items=batch)
            answer = worker.receive(TIMEOUT_S)
            worker.close()
            return answer
        finally:
            worker.kill()


def _limit(attempts: Sequence[Attempt], batch: int, most: int) -> str | None:
    """Say what else than memory kept a batch from being larger; None where memory did."""
    if batch == most:
        return f"none larger than {most} was tried"
    above = min((one for one in attempts if one.batch > batch), key=lambda one: one.batch, default=None)
    if above is None or above.status == OUT_OF_MEMORY:
        return None
    return f"{above.batch} ended with {above.status}: {above.reason or 'no reason was recorded'}"


def measure(
    cell: Cell, cap_bytes: int, seed: int, start: Callable[[Cell], Transport], *, first: int = FIRST, most: int = MOST
) -> LargestBatch:
    """Find the largest batch of ``cell`` under ``cap_bytes``, which the import of the framework does not count against.

    On a processor the cap is on the private memory of the process, on a GPU on the framework's allocator. An attempt
    that runs out of time or breaks counts as one that does not fit; its reason is kept.
    """
    search = _Search(cell, cap_bytes, seed, start)
    try:
        batch = largest(search.fits, first, most)
    except _Hopeless:
        batch = max(search.fitted, default=0)
    attempts = tuple(search.attempts)
    if not batch:
        return LargestBatch(cap_bytes, attempts, attempts[-1].status, attempts[-1].reason)
    answer = search.fitted[batch]
    return LargestBatch(
        cap_bytes, attempts, OK, _limit(attempts, batch, most), batch, int(answer["items"]), str(answer["item"])
    )
