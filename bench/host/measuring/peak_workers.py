"""Starts the workers that measure peaks: forked from the processes of the first round, as its cells' workers are.

An import takes one to two seconds, and the first round needs it in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bench.cell import Cell

from ..executors.job import InstalledEnvironment, RowJob, RowRound
from ..executors.local import LocalExecutor
from ..study.twin import original
from ..workers.protocol import Transport
from .rounds import Run

Start = Callable[[Cell], Transport]


@dataclass
class PeakWorkers:
    """The workers of one run that measure peaks."""

    run: Run
    executor: LocalExecutor
    environments: Mapping[str, InstalledEnvironment]
    #: Starts a worker in a process of its own.
    own: Start
    _job: RowJob | None = field(default=None, init=False)

    def begin(self, probed: Iterable[Cell]) -> None:
        """Begin the first round where the worker of one of these cells can be forked from its processes."""
        shared = self._sharing()
        places = set(map(_place, shared))
        if any(_place(probe) in places for probe in probed):
            row_round = RowRound(0, shared[0].row, tuple(shared), 1, (0,) * len(shared))
            job = self.run.make_job(row_round, self.run.stops.left_s())
            # The cells of a trial are measured in lanes, which have processes of their own.
            if job.forked and not job.trial:
                self._job = job
                self.executor.begin(job)

    def ready(self, announce: Callable[[str], None]) -> Start:
        """Have the frameworks imported, and return what starts the worker of a probe."""
        if self._job is None:
            return self.own
        fork = self.executor.prepare(self._job, "peaks", announce)
        places = set(map(_place, self._job.row_round.cells))
        return lambda probe: (fork if _place(probe) in places else self.own)(probe)

    def _sharing(self) -> list[Cell]:
        """Return the cells with the most threads, as peaks are measured with these, and in no container.

        A container has the input data of one row, so the workers of no other row are forked in it.
        """
        threads = max((cell.threads for cell in self.run.cells), default=1)
        return [
            cell
            for cell in self.run.cells
            if cell.threads == threads and not self.environments[original(cell.environment)].in_container
        ]


def _place(cell: Cell) -> tuple[str, str, int]:
    """Return what the cells share that are forked from one process."""
    return cell.environment, cell.device, cell.threads
