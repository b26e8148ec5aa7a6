"""Runs the row jobs of a trial side by side: in each lane a program on processors of its own takes job after job.

The times of a trial mean nothing, so that its cells need not wait for each other. A lane is ``bench.host.executors`` in
a process: it measures as ever, and sees the processors of its lane only.
"""

from __future__ import annotations

import contextlib
import selectors
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.cell import Cell

from ..machine import facts, processors
from ..machine.gpu import Gpus
from ..project import PACKAGE
from .events import Emit
from .job import RowJob
from .program import ExecutorFailed, Program

#: A lane imports the frameworks for itself. Where less memory is free for each, there are fewer lanes.
LANE_BYTES = 2 << 30
#: What a lane may need of a GPU: two frameworks' contexts, and the steps of a size that is for checking.
LANE_GPU_BYTES = 4 << 30
#: The size whose steps are small, and whose times nobody publishes.
CHECKED_SIZE = "check"
#: Finds the package wherever the run was started.
PROGRAM = """import sys
sys.path.insert(0, sys.argv.pop(1))
from bench.host.executors.__main__ import main
sys.exit(main())
"""


def possible(threads: int) -> list[tuple[int, ...]]:
    """Return the processors of each lane: as many lanes as processors and free memory allow, none for a single one."""
    shares = processors.shares(threads)
    count = min(len(shares), facts.available_bytes() // LANE_BYTES)
    return shares[:count] if count > 1 else []


def of_trial(root: Path, folder: Path, cells: Sequence[Cell]) -> Lanes | None:
    """Return the lanes for the cells of a trial; None where they have no use for several.

    On a GPU they share its memory, and compilers choose kernels by timing them, beside other lanes. The choice is kept
    for that size. So there are lanes only where all its cells have a size that is never measured.
    """
    on_gpu = [cell for cell in cells if cell.device != "cpu"]
    if not cells or any(cell.size != CHECKED_SIZE for cell in on_gpu):
        return None
    places = possible(max(cell.threads for cell in cells))
    if on_gpu:
        places = places[: Gpus().free_bytes() // LANE_GPU_BYTES]
    return Lanes([command(root, folder, place) for place in places]) if len(places) > 1 else None


def command(root: Path, folder: Path, bound: Sequence[int]) -> list[str]:
    """Return the command of a lane of the project at ``root``; the logs of workers go to ``logs`` in ``folder``."""
    words = ["--root", str(root), "--logs", str(folder), "--lane", ",".join(map(str, bound))]
    return [sys.executable, "-c", PROGRAM, str(PACKAGE.parent), *words]


class Lanes:
    """Programs that run jobs side by side; they start with the first job and stay until ``close``."""

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._lanes: list[Program] = []

    def __len__(self) -> int:
        return len(self._commands)

    def run(self, jobs: Iterator[RowJob], emit: Emit, done: Callable[[RowJob], None] = lambda job: None) -> None:
        """Run the jobs, each in the first lane that is free; a job is drawn from ``jobs`` when it begins.

        ``emit`` gets the events of all of them as they come, ``done`` each job that is over. KeyboardInterrupt passes
        through, after the events of what had been measured. Raises ExecutorFailed when a program ends by itself.
        """
        try:
            if not self._lanes:
                self._start()
            self._run(jobs, emit, done)
        except BaseException:
            self._end(emit)
            raise

    def machine(self) -> Mapping[str, Any]:
        """Ask the first program for the facts of its machine, before its first job. Raises ExecutorFailed."""
        if not self._lanes:
            self._start()
        return self._lanes[0].machine()

    def _start(self) -> None:
        for each in self._commands:
            # One by one: where the next one does not start, those before it are ended.
            self._lanes.append(Program(each))

    def _run(self, jobs: Iterator[RowJob], emit: Emit, done: Callable[[RowJob], None]) -> None:
        with selectors.DefaultSelector() as ready:
            for lane in self._lanes:
                if lane.take(next(jobs, None)):
                    ready.register(lane.output, selectors.EVENT_READ, lane)
            while ready.get_map():
                for key, _ in ready.select():
                    over = key.data.read(emit)
                    if over is not None:
                        done(over)
                        if not key.data.take(next(jobs, None)):
                            ready.unregister(key.fileobj)

    def _end(self, emit: Emit) -> None:
        """End the jobs under way; what they had measured comes first."""
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            lane.interrupt()
        try:
            for lane in lanes:
                with contextlib.suppress(ExecutorFailed):
                    while True:
                        lane.read(emit)
        except BaseException:
            # Nobody reads what they still write: they would wait for that.
            for lane in lanes:
                lane.kill()
            raise
        finally:
            for lane in lanes:
                lane.close()

    def close(self) -> None:
        """End the programs, which have no jobs any more."""
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            lane.end_input()
        for lane in lanes:
            lane.close()
