"""Represents one cell in one process: the requests to its worker, and the record that grows from the answers.

Nothing here raises for what a worker does. When a request ends the worker, the cell process is ``over`` and its record
holds the reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.cell import Cell
from bench.record import FAILED, IMPLAUSIBLE, OK, Record

from ..machine.energy import Counter, PowerMeter
from ..storage.journal import extended
from ..study.twin import original_cell
from ..workers.field_types import Malformed
from ..workers.messages import expect
from ..workers.protocol import Ended, Transport
from .child_processes import ChildProcesses
from .host_clock import HostClock, Unbelievable

#: The lists of a record that grow with every turn.
SAMPLE_LISTS = ("sample_steps", "sample_ns", "sample_cpu_ns", "sample_wait_ns")


class CellProcess:
    """One cell in one row round."""

    def __init__(self, cell: Cell, number: int, attempt: int, first_turn: int, *, timeout_s: float, run: str) -> None:
        """``number`` is the round, ``timeout_s`` the seconds that the worker may spend in one stage."""
        #: Name of the cell.
        self.name = cell.name
        self._timeout_s = timeout_s
        self._worker: Transport | None = None
        #: What the worker was asked last.
        self._asked = ""
        self._clock = HostClock()
        self._children = ChildProcesses()
        self.next_turn = first_turn
        self.over = False
        self._finished = False
        #: Seconds in which the host only waited for the worker.
        self.waited_s = 0.0
        self.record = Record(cell=cell, round=number, attempt=attempt, status=OK, run=run, started_at=time.time())

    def request_import(self, worker: Transport, memory_limit_bytes: int | None = None) -> None:
        """Let the worker import its framework; ``await_import`` waits for it."""
        self._worker = worker
        # A worker gets the name of the original, not of the twin: a longer name would move what it allocates.
        cell = original_cell(self.record.cell).to_json()
        self._send(do="import", cell=cell, memory_limit_bytes=memory_limit_bytes)

    def await_import(self, *, alone: bool) -> None:
        answer = self._await()
        if answer is not None:
            assert self._worker is not None
            # A forked worker finds the import done.
            if self._worker.import_alone is not None:
                alone = self._worker.import_alone
            self._note(import_s=answer["import_s"], import_alone=alone, versions=answer["versions"])

    def request_prepare(self, **request: Any) -> None:
        """Let the worker build, make its first call and check; ``await_prepare`` waits for it."""
        self._send(do="prepare", **request)

    def await_prepare(self, *, alone: bool, cache: str | None) -> None:
        """Note check and first call; ``cache`` is the state that the compilation cache had: cold, warm, unsure.

        A first call that was not made ``alone`` is not kept: others computed beside it. A version of the framework that
        cannot read its compiled code back has no state.
        """
        answer = self._await()
        if answer is not None:
            self._note(**{name: answer[name] for name in ("check", "work", "data")})
            if alone:
                found = cache if answer["keeps_code"] else None
                self._note(first_call_s=answer["first_call_s"], first_call_cache=found)

    def calibrate(self, **request: Any) -> None:
        """Let the worker warm up and find how many steps fill a sample."""
        answer = self._request(do="calibrate", **request)
        if answer is not None:
            self._note(warmup_ns=answer["warmup_ns"])
            assert self._worker is not None
            self._children.begin(self._worker)

    def move(self, processors: Sequence[int]) -> None:
        """Bind the worker to other processors."""
        self._request(do="move", processors=list(processors))

    def take_turn(self) -> dict[str, list[int]] | None:
        """Take one turn, of one sample; return what it adds to the record, None when it ended the worker."""
        answer = self._request(do="turn", samples=1, turn=self.next_turn)
        if answer is None:
            return None
        taken: dict[str, list[int]] = {name: answer.get(name, []) for name in SAMPLE_LISTS}
        try:
            self._clock.verify(taken, 1, answer.get("clock_ns"))
            self._children.add(taken, self._clock.seen_ns)
        except Unbelievable as error:
            self._refuse(str(error))
            return None
        taken["sample_turn"] = [self.next_turn] * len(taken["sample_ns"])
        self.record = extended(self.record, taken)
        self.next_turn += 1
        return taken

    def measure_energy(self, counter: Counter, seconds: float, idle_watts: float | None) -> None:
        """Let the worker compute for so long, and note the power of its device meanwhile."""
        with PowerMeter(counter) as meter:
            answer = self._request(do="work", seconds=seconds)
        watts = meter.watts()
        if answer is not None and watts is not None:
            done = {name: answer[name] for name in ("steps", "seconds")}
            self._note(energy={"counter": counter.name, "watts": watts, "idle_watts": idle_watts, **done})

    def request_finish(self, *, again: bool = True, growth: bool = True) -> None:
        """Let the worker tell the settings in force and its memory, and check its outputs ``again``.

        ``growth`` lets it verify that its time grows with its work.
        """
        self._send(do="finish", again=again, growth=growth)

    def await_finish(self) -> None:
        """Note what it tells; ``end_worker`` and ``await_end`` end it."""
        answer = self._await()
        if answer is not None:
            self._note(
                checked_again=answer.get("checked_again"),
                memory={**self._children.with_memory(answer["memory"]), **self.record.memory},
                settings={**self.record.settings, **answer["settings"], "processes": 1 + self._children.most},
                compilation=answer.get("compilation") or {},
            )
            self.over = self._finished = True

    def end_worker(self) -> None:
        """Let a worker that has finished end; ``await_end`` waits for that."""
        if self._finished and self._worker is not None:
            self._worker.end_input()

    def await_end(self) -> None:
        """Wait some seconds for the end of a worker that has finished, and kill it if that does not come."""
        if self._finished and self._worker is not None:
            self._worker.close()

    def end(self, ended: Ended) -> None:
        """Note how the worker ended, or why it did not start."""
        self.over = True
        self._note(status=ended.status, stage=ended.stage, reason=ended.reason)

    def kill(self) -> None:
        """Kill the worker in whatever state it is."""
        if self._worker is not None:
            self._worker.kill()

    def note_memory(self, name: str, size: int) -> None:
        """Keep the largest value of a memory figure that was measured from outside."""
        self._note(memory={**self.record.memory, name: max(size, self.record.memory.get(name, 0))})

    def note_frequencies(self, mhz: Sequence[float]) -> None:
        """Keep the lowest and the highest frequency of the processors."""
        seen = [*self.record.frequency_mhz, *mhz]
        if seen:
            self._note(frequency_mhz=[min(seen), max(seen)])

    def note_clocks(self, mhz: Sequence[float], limits: Iterable[str]) -> None:
        """Keep the lowest and the highest clock of the GPUs, and count what limited it in a sample."""
        seen = [*self.record.gpu_frequency_mhz, *mhz]
        counts = dict(self.record.gpu_clock_limits)
        for name in sorted(limits):
            counts[name] = counts.get(name, 0) + 1
        self._note(gpu_frequency_mhz=[min(seen), max(seen)] if seen else [], gpu_clock_limits=counts)

    def note_settings(self, settings: Mapping[str, Any]) -> None:
        """Keep settings that were read from outside."""
        self._note(settings={**self.record.settings, **settings})

    def note_other_load(self, processors: float | None) -> None:
        """Keep how much other processes computed meanwhile, in processors; None where that is unknown."""
        self._note(other_load=processors)

    def note_disturbed(self, turns: Mapping[int, str]) -> None:
        """Mark the disturbed turns of this process; ``turns`` are those of the row round, with reasons."""
        own = set(self.record.sample_turn)
        self._note(disturbed={str(turn): reason for turn, reason in turns.items() if turn in own})

    def note_implausible(self, reason: str) -> None:
        """Fail the cell because its samples cannot be true; they stay in the record."""
        self._note(status=FAILED, stage=IMPLAUSIBLE, reason=reason)

    @property
    def process_id(self) -> int | None:
        """The id of the worker's process on this machine; None where there is none."""
        return self._worker.process_id if self._worker is not None else None

    def _request(self, **request: Any) -> dict[str, Any] | None:
        self._send(**request)
        return self._await()

    def _send(self, **request: Any) -> None:
        if not self.over and self._worker is not None:
            self._worker.resume()
            self._asked = request["do"]
            self._clock.sent()
            try:
                self._worker.send(**request)
            except Malformed as error:
                self._refuse(f"the request was refused: {error}")

    def _await(self) -> dict[str, Any] | None:
        """Wait for the answer, then stop the worker until the next request."""
        if self.over or self._worker is None:
            return None
        start = time.monotonic()
        try:
            answer = self._worker.receive(self._timeout_s)
            self._clock.received()
            expect(answer, self._asked)
        except Ended as ended:
            self.end(ended)
            return None
        except Malformed as error:
            self._refuse(f"the worker sent {error}")
            return None
        finally:
            self.waited_s += time.monotonic() - start
        self._worker.pause()
        return answer

    def _refuse(self, reason: str) -> None:
        """Kill a worker that cannot be believed, and fail the cell."""
        self.kill()
        assert self._worker is not None
        self.end(Ended(FAILED, self._worker.stage, reason))

    def _note(self, **values: Any) -> None:
        self.record = replace(self.record, **values)
