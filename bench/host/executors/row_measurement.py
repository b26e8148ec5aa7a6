"""Measures one row in one round: the processes start, are prepared, take turns, repeat disturbed turns and finish."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.record import FAILED

from ..analysis import noise_watch
from ..machine.other_load import CpuTimes, OtherLoad
from ..machine.processors import frequencies_mhz
from ..study.twin import is_twin
from ..workers.protocol import Ended
from . import plausibility, row_energy, row_finish
from .cell_process import CellProcess
from .events import Emit, Finished, Progress, Ready, TurnTaken, Waited
from .gpu_watch import GpuWatch
from .job import RowJob
from .resources import Resources
from .side_by_side import side_by_side


class RowMeasurement:
    """The processes of one row round."""

    def __init__(self, job: RowJob, resources: Resources, emit: Emit) -> None:
        self._job = job
        self._resources = resources
        self._emit = emit
        self._began = resources.clock()
        self._at_once = job.at_once and bool(resources.beside)
        self._processes = [self._process(index) for index in job.start_order]
        self._gpu_watch = GpuWatch(self._processes, resources.gpus, shared=resources.gpus_shared)
        self._load = OtherLoad(resources.processors)
        self._load_before: CpuTimes | None = None

    def _process(self, index: int) -> CellProcess:
        now = self._job.row_round
        return CellProcess(
            now.cells[index],
            now.round,
            now.attempt,
            now.first_turns[index],
            timeout_s=self._job.timeout_s,
            run=self._job.run,
        )

    def run(self) -> None:
        """Measure the row and emit the events.

        The records of finished processes, and of interrupted ones that have samples, are emitted whatever happens. Then
        KeyboardInterrupt passes through.
        """
        waited_s = 0.0
        try:
            began = self._resources.clock()
            self._ready()
            # Most of the time it is there: it may be computed while a compiler prepares what cells share.
            reference = self._reference()
            waited_s = self._resources.clock() - began
            self._measure(reference) if isinstance(reference, Path) else self._end_all(reference)
        except BaseException:
            self._mark_disturbed()
            raise
        finally:
            waited_s += sum(process.waited_s for process in self._processes)
            # Each is done whatever another raises, the last one first. A process without samples is made anew.
            with contextlib.ExitStack() as last:
                last.callback(self._emit, Waited(waited_s))
                for process in reversed(self._processes):
                    if process.over or process.record.sample_ns:
                        last.callback(self._emit, Finished(process.record))
                for process in reversed(self._processes):
                    last.callback(process.kill)

    def _reference(self) -> Path | Ended:
        try:
            return self._resources.reference(self._job.row_round.cells[0])
        except Ended as ended:
            return Ended(FAILED, "check", f"the float64 reference could not be computed: {ended.reason}")

    def _ready(self) -> None:
        """Have the frameworks imported from which workers are forked."""
        self._emit(Progress("importing", self._processes[0].name))
        self._resources.ready([process.record.cell for process in self._processes])

    def _end_all(self, ended: Ended) -> None:
        for process in self._processes:
            process.end(ended)

    def _measure(self, reference: Path) -> None:
        self._import()
        self._prepare(reference)
        planned = self._job.samples
        self._load_before = self._load.read(self._process_ids())
        with self._gpu_watch.held():
            self._take_turns(range(min(self._job.row_round.first_turns), planned))
            if not self._out_of_time():
                more = noise_watch.repeats(self._disturbed(), planned)
                self._take_turns(range(planned, planned + more))
        self._mark_disturbed()
        if self._job.energy_s and not self._out_of_time():
            row_energy.measure(self._processes, self._resources.power, self._job.energy_s, self._announce)
        try:
            row_finish.finish(self._processes, self._job, len(self._resources.processors))
            plausibility.judge(self._processes, self._job.peaks, self._peaks_again, self._emit)
        except BaseException:  # What was not judged may not count as a result.
            plausibility.fail(self._processes, self._job.peaks)
            raise

    def _peaks_again(self, cell: Cell, precisions: Sequence[str]) -> Mapping[str, Any]:
        return {} if self._out_of_time() else self._resources.peaks(cell, precisions)

    def _out_of_time(self) -> bool:
        left_s = self._job.left_s
        return left_s is not None and self._resources.clock() - self._began > left_s

    def _import(self) -> None:
        """Start the workers, as many at once as there are processors: imports are not what is measured."""
        together = len(self._processes) if self._at_once else max(1, len(self._resources.processors))
        alone = together == 1 or len(self._processes) == 1

        def await_import(process: CellProcess) -> None:
            self._emit(Progress("importing", process.name))
            process.await_import(alone=alone)

        side_by_side(self._processes, together, self._start, await_import)

    def _start(self, process: CellProcess) -> None:
        cell = process.record.cell
        processors = self._resources.processors
        # The two sides swap places every round, so that neither gains by its own.
        if self._at_once and (self._job.row_round.round + is_twin(cell)) % 2:
            processors = self._resources.beside
        try:
            worker = self._resources.start(cell, processors=processors, layout=self._job.layout_seed)
        except Ended as ended:
            process.end(ended)
        else:
            process.request_import(worker, self._resources.memory_limit_bytes)

    def _prepare(self, reference: Path) -> None:
        """Build and check the cells, one after the other, and calibrate each.

        Two that compute at the same time, each with as many threads as there are processors, took longer than one after
        the other: 2.7 s instead of 0.04 s for the steps of a transformer in PyTorch, whose threads wait by spinning.
        """
        together = len(self._processes) if self._at_once else 1
        states: dict[str, str | None] = {}

        def begin(process: CellProcess) -> None:
            states[process.name] = self._resources.caches.state(process.record.cell)
            self._request_prepare(process, reference)

        def end(process: CellProcess) -> None:
            process.await_prepare(alone=together == 1, cache=states[process.name])
            if not process.over:
                self._resources.caches.fill(process.record.cell)

        side_by_side(self._processes, together, begin, end)
        for process in self._processes:
            if self._at_once:
                process.move(self._resources.processors)
            planted = self._job.planted.get(process.record.cell.column, {})
            process.calibrate(sample_s=self._job.sample_seconds, **planted)
            if not process.over:
                self._emit(Ready(process.record))

    def _request_prepare(self, process: CellProcess, reference: Path) -> None:
        self._emit(Progress("preparing", process.name))
        if not process.over:
            self._resources.caches.begin(process.record.cell)
        process.request_prepare(seed=self._job.data_seed, reference=str(reference), data=self._job.data)

    def _take_turns(self, turns: range) -> None:
        """Take turns in seeded random order, one sample at a time, every other worker stopped."""
        for turn in turns:
            for index in self._job.turn_order(turn):
                process = self._processes[index]
                # After an interruption some cells are a turn ahead: they wait for the others.
                if not process.over and process.next_turn == turn:
                    self._take_turn(process)
            self._gpu_watch.check(turn)

    def _take_turn(self, process: CellProcess) -> None:
        self._announce(process)
        turn = process.next_turn
        taken = process.take_turn()
        if taken is not None:
            self._gpu_watch.note_clocks(process, turn)
            now = self._job.row_round
            self._emit(TurnTaken(process.name, now.round, now.attempt, taken))
            process.note_frequencies(frequencies_mhz(self._resources.processors))

    def _announce(self, process: CellProcess) -> None:
        self._emit(Progress("measuring", process.name))

    def _disturbed(self) -> list[dict[int, str]]:
        return noise_watch.disturbed_turns([process.record for process in self._processes], self._gpu_watch.disturbed)

    def _mark_disturbed(self) -> None:
        """Mark the disturbed turns so far, and how much other processes computed meanwhile."""
        others = self._load.since(self._load_before, self._load.read(self._process_ids()))
        for process, disturbed in zip(self._processes, self._disturbed(), strict=True):
            process.note_disturbed(disturbed)
            process.note_other_load(others)

    def _process_ids(self) -> set[int]:
        """Return the ids of the processes that are measured."""
        return {one.process_id for one in self._processes if not one.over and one.process_id is not None}
