"""Writes the events of row jobs to the journal at once, and shows the progress of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.cell import Cell
from bench.record import Record

from ..executors.events import Event, Finished, PeaksFound, Progress, Ready, TurnTaken, Waited
from ..reporting.progress import Display
from ..storage.journal import Journal

#: What a record is of: the name of its cell, round and attempt.
Key = tuple[str, int, int]


class Recorder:
    """Records one job, or the jobs of one round that run side by side."""

    def __init__(
        self,
        journal: Journal,
        records: list[Record],
        display: Display,
        number: int,
        wait: Callable[[float], None],
        note_peaks: Callable[[str, Mapping[str, Any]], None],
    ) -> None:
        """``records`` are those of the run and grow; ``number`` is the round; ``wait`` gets the seconds of waiting.

        ``note_peaks`` gets peaks that were measured again.
        """
        self._journal = journal
        self._records = records
        self._display = display
        self._number = number
        self._wait = wait
        self._note_peaks = note_peaks
        #: The processes with turns in the journal and without a record there.
        self._open: set[Key] = set()
        #: What is to be recorded in this order, and the records that wait for their turn or are being written.
        self._order: list[Key] = []
        self._waiting: dict[Key, Record] = {}
        #: Whether a record is being written. Where that was interrupted it stays, and the journal tells how far it got.
        self._writing = False

    def expect(self, cell: Cell, number: int, attempt: int) -> None:
        """Let the record of this process be the next one, whichever ends first: so the order is that of the jobs.

        A record that has to wait is not lost when this process is killed: its turns are in the journal.
        """
        self._order.append((cell.name, number, attempt))

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is handled within, whatever interrupts it."""
        try:
            yield
        finally:
            self._record_waiting()
            if self._open:
                # The executor broke down: what it sent before becomes records.
                self._records += self._journal.settle()
            else:
                self._journal.forget()

    def handle(self, event: Event) -> None:
        journal = self._journal
        match event:
            case Progress(stage, cell):
                what = f"round {self._number + 1}: {stage} {cell}"
                self._display.at(what, len(self._records) + len(self._waiting), brief=stage == "measuring")
            case TurnTaken(cell, number, attempt, samples):
                self._open.add((cell, number, attempt))
                journal.turn(cell, number, attempt, samples)
            case Ready(record):
                journal.begin(record)
            case Finished(record):
                self._finish(record)
            case PeaksFound(key, peaks):
                self._note_peaks(key, peaks)
            case Waited(seconds):
                self._wait(seconds)

    def _finish(self, record: Record) -> None:
        key = (record.cell.name, record.round, record.attempt)
        self._waiting[key] = record
        if self._writing:
            return  # What comes after an interrupt is recorded at the end, in order.
        if key not in self._order:
            self._append(key)
        while self._order and self._order[0] in self._waiting:
            self._append(self._order[0])
            self._order.pop(0)

    def _append(self, key: Key) -> None:
        self._writing = True
        self._journal.append(self._waiting[key])
        self._remember(key)

    def _remember(self, key: Key) -> None:
        """Let go of a record that is written; an interrupt at any place before leaves it waiting."""
        record = self._waiting[key]
        if not any(one is record for one in self._records[-1:]):
            self._records.append(record)
        self._open.discard(key)
        del self._waiting[key]
        self._writing = False

    def _record_waiting(self) -> None:
        """Record what waits, and what an interrupt kept from being written or remembered."""
        written = self._journal.recorded() if self._writing else set()
        for key in dict.fromkeys([*self._order, *self._waiting]):
            if key not in self._waiting:
                continue
            if (*key, self._waiting[key].started_at) in written:
                self._remember(key)
            else:
                self._append(key)
