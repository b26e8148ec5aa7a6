"""Knows one cell in one process from the host's side: what to ask of its worker and the record that grows from the
answers.

A seat never raises for what its worker does: when a request ends the worker, the seat is ``over`` and its record says
why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.cell import Cell
from bench.record import FAILED, IMPLAUSIBLE, OK, Record

from ..storage.journal import extended
from ..study.twin import original_cell
from ..workers.protocol import Ended, Transport


class Seat:
    """One cell's place in a sitting."""

    def __init__(
        self,
        cell: Cell,
        number: int,
        attempt: int,
        first_turn: int,
        *,
        start: Callable[[], Transport],
        timeout_s: float,
        run: str,
    ) -> None:
        self._start = start
        self._timeout_s = timeout_s
        self._worker: Transport | None = None
        self.next_turn = first_turn
        self.over = False
        #: Seconds in which this host only waited for the worker.
        self.waited_s = 0.0
        self.record = Record(cell=cell, round=number, attempt=attempt, status=OK, run=run, started_at=time.time())

    def ask_import(self, memory_limit_bytes: int | None = None) -> None:
        """Start the worker and let it import its framework; ``await_import`` waits for it."""
        try:
            self._worker = self._start()
            # A twin does not know that it is one: the length of its name would move what it allocates.
            cell = original_cell(self.record.cell).to_json()
            self._worker.send(do="import", cell=cell, memory_limit_bytes=memory_limit_bytes)
        except Ended as ended:
            self._end(ended)

    def await_import(self, *, alone: bool) -> None:
        answer = self._await()
        if answer is not None:
            self._note(import_s=answer["import_s"], import_alone=alone, versions=answer["versions"])

    def ask_prepare(self, **request: Any) -> None:
        """Let the worker build, call, check and calibrate; ``await_prepare`` waits for it."""
        self._send(do="prepare", **request)

    def await_prepare(self, *, cache: str | None) -> None:
        """Note what the first call and the check came to; its compilation cache was ``cache``, cold, warm or none."""
        answer = self._await()
        if answer is not None:
            fields = ("first_call_s", "check", "warmup_ns", "work", "data")
            self._note(first_call_cache=cache, **{name: answer[name] for name in fields})

    def move(self, processors: Sequence[int]) -> None:
        """Bind the worker to other processors."""
        self._ask(do="move", processors=list(processors))

    def turn(self, samples: int) -> dict[str, list[int]] | None:
        """Take one turn; return what it adds to each list of samples of the record, None when it ended the worker."""
        answer = self._ask(do="turn", samples=samples, turn=self.next_turn)
        if answer is None:
            return None
        lists = ("sample_steps", "sample_ns", "sample_cpu_ns", "sample_wait_ns")
        taken: dict[str, list[int]] = {name: answer.get(name, []) for name in lists}
        taken["sample_turn"] = [self.next_turn] * len(taken["sample_ns"])
        self.record = extended(self.record, taken)
        self.next_turn += 1
        return taken

    def finish(self) -> None:
        """Ask for what was in force and close the worker."""
        answer = self._ask(do="finish")
        if answer is not None:
            self._note(
                memory={**answer["memory"], **self.record.memory},
                settings=answer["settings"],
                compilation=answer.get("compilation", {}),
            )
            assert self._worker is not None
            self._worker.close()
            self.over = True

    def note_memory(self, name: str, size: int) -> None:
        """Keep the largest of a memory figure that was seen from outside."""
        self._note(memory={**self.record.memory, name: max(size, self.record.memory.get(name, 0))})

    def note_frequencies(self, mhz: Sequence[float]) -> None:
        seen = [*self.record.frequency_mhz, *mhz]
        if seen:
            self._note(frequency_mhz=[min(seen), max(seen)])

    def note_other_load(self, processors: float | None) -> None:
        """Keep how much others computed while this process took turns; None where nobody can tell."""
        self._note(other_load=processors)

    def note_disturbed(self, turns: Mapping[int, str]) -> None:
        """Mark the turns of this process that were disturbed."""
        own = set(self.record.sample_turn)
        self._note(disturbed={str(turn): reason for turn, reason in turns.items() if turn in own})

    def condemn(self, reason: str) -> None:
        """Fail a cell whose samples cannot be true; they stay in the record."""
        self._note(status=FAILED, stage=IMPLAUSIBLE, reason=reason)

    @property
    def process_id(self) -> int | None:
        """Return the process that this machine knows the worker by, where there is one."""
        return getattr(self._worker, "process_id", None)

    def refuse(self, ended: Ended) -> None:
        """End the cell before it has a process."""
        self._end(ended)

    def abandon(self) -> None:
        """Kill the worker, whatever it is doing."""
        if self._worker is not None:
            self._worker.kill()

    def _ask(self, **request: Any) -> dict[str, Any] | None:
        self._send(**request)
        return self._await()

    def _send(self, **request: Any) -> None:
        if not self.over and self._worker is not None:
            self._worker.resume()
            self._worker.send(**request)

    def _await(self) -> dict[str, Any] | None:
        """Wait for the answer, then stop the worker until its next turn."""
        if self.over or self._worker is None:
            return None
        start = time.monotonic()
        try:
            answer = self._worker.receive(self._timeout_s)
        except Ended as ended:
            self._end(ended)
            return None
        finally:
            self.waited_s += time.monotonic() - start
        self._worker.pause()
        return answer

    def _end(self, ended: Ended) -> None:
        self.over = True
        self._note(status=ended.status, stage=ended.stage, reason=ended.reason)

    def _note(self, **values: Any) -> None:
        self.record = replace(self.record, **values)
