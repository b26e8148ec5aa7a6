"""Keeps the processes from which the workers of a round are forked: one for each environment, for as long as the round.

The round is the statistical unit: all its cells share what its parents drew when they started, the addresses of
libraries and the order of hashes, and every round has parents of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..machine import facts
from ..workers.parent import Parent
from ..workers.protocol import Ended
from .side_by_side import side_by_side

#: With less free memory, parents that the present row does not need are closed.
LEAST_FREE_BYTES = 4 << 30


@dataclass(frozen=True)
class Wanted:
    """A parent that a row needs."""

    start: Callable[[], Parent]
    #: Modules that the modes of the row's cells import in their first calls.
    preloads: tuple[str, ...] = ()


class Parents:
    """The parents of one round at a time."""

    def __init__(self) -> None:
        self._alive: dict[Hashable, Parent] = {}
        self._failed: dict[Hashable, Ended] = {}
        self._round: Hashable = None

    def begin(self, round: Hashable) -> None:
        """Close the parents of another round."""
        if round != self._round:
            self.close()
            self._round = round

    def ready(self, wanted: Mapping[Hashable, Wanted], at_once: int, timeout_s: float) -> None:
        """Start the parents that are missing and wait until they have imported, ``at_once`` at the same time.

        Then each imports alone what its modes need: that is part of their first calls, which are measured. A parent
        that cannot start, ends or takes longer is reported by ``get`` or by its workers.
        """
        self._failed = {}
        self._alive = {key: parent for key, parent in self._alive.items() if parent.ended is None}
        missing = [key for key in wanted if key not in self._alive]
        if missing and facts.available_bytes() < LEAST_FREE_BYTES:
            self._close_all_but(wanted)
        at_once = max(1, min(at_once, len(missing)))

        def begin(key: Hashable) -> None:
            self._start(key, wanted[key], alone=at_once == 1)

        def end(key: Hashable) -> None:
            if key in self._alive:
                self._alive[key].await_import(timeout_s)

        side_by_side(missing, at_once, begin, end)
        for key, one in wanted.items():
            if key in self._alive:
                self._alive[key].preload(one.preloads, timeout_s)

    def get(self, key: Hashable) -> Parent:
        """Return a parent that ``ready`` started; raises Ended where that failed."""
        if key in self._failed:
            raise self._failed[key]
        return self._alive[key]

    def close(self) -> None:
        """End all parents."""
        self._close_all_but(())

    def _start(self, key: Hashable, wanted: Wanted, *, alone: bool) -> None:
        try:
            parent = self._alive[key] = wanted.start()
            parent.import_alone = alone
        except Ended as ended:
            self._failed[key] = ended

    def _close_all_but(self, kept: Sequence[Hashable] | Mapping[Hashable, object]) -> None:
        for key in [key for key in self._alive if key not in kept]:
            self._alive.pop(key).close()
