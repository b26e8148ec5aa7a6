"""Runs row jobs on this machine, in this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from bench.cell import Cell
from bench.registry import Registry

from ..machine import facts, processors
from ..project import COMPILE_CACHES, REFERENCES, STATE
from ..storage.compile_caches import CompileCaches
from ..storage.references import References
from ..study.twin import original
from ..workers.protocol import Transport
from . import plausibility
from .events import Emit
from .job import InstalledEnvironment, RowJob, describe_each
from .parents import Parents
from .placements import Placements
from .resources import Resources
from .row_measurement import RowMeasurement
from .starter import Starter


class Executor(Protocol):
    """Runs row jobs on some machine."""

    def run(self, job: RowJob, emit: Emit) -> None:
        """Run a job to its end and pass its events to ``emit``.

        KeyboardInterrupt passes through after the events of what had been measured.
        """

    def machine(self) -> Mapping[str, Any]:
        """Return the facts of the machine on which the jobs run: see ``bench.host.machine.facts``."""

    def close(self) -> None:
        """End what was kept for further jobs."""


class LocalExecutor:
    """Runs row jobs with the workers of this machine."""

    def __init__(self, root: Path, folder: Path, lane: str = "") -> None:
        """``root`` is the project; the logs of workers go to ``logs`` in ``folder``.

        ``lane`` tells the logs of this executor's parents from those of others beside it.
        """
        self._root = root
        self._folder = folder
        self._lane = lane
        self._parents = Parents()
        self._placements = Placements()
        #: Cells of the run, at least one of each row, with their data.
        self._foreseen: Mapping[Cell, str | None] = {}

    def foresee(self, cells: Mapping[Cell, str | None]) -> None:
        """Name a cell of each row that later jobs measure, with the path of its data.

        Their references may be computed in advance, when nothing is measured and a processor is idle.
        """
        self._foreseen = cells

    def run(self, job: RowJob, emit: Emit) -> None:
        """Run a job; raises ValueError where the job does not describe the environment of a cell."""
        for cell in job.row_round.cells:
            name = original(cell.environment)
            if name not in job.environments:
                raise ValueError(f"the job does not describe environment {name!r} of cell {cell.name}")
        self.begin(job)
        RowMeasurement(job, self._resources(job), emit).run()

    def begin(self, job: RowJob) -> None:
        """Begin the round of a job where it has not begun, and place those of its environments that it has not placed.

        Each round has parents of its own; rows of the same round share them.
        """
        round = (job.run, job.order_seed, job.row_round.round)
        self._parents.begin(round)
        if job.placed_anew:
            gpu = any(cell.device != "cpu" for cell in job.row_round.cells)
            self._placements.draw(round, job.environments, job.round_seed, gpu=gpu)

    def prepare(self, job: RowJob, label: str, announce: Callable[[str], None]) -> Callable[[Cell], Transport]:
        """Prepare what the cells of a job share, whose round has begun; return what starts further workers beside them.

        These are forked as the cells' are, from the same processes: cells of the same environments, devices and
        threads. ``label`` is part of the names of their logs.
        """
        starter = self._starter(job, None, Registry.of(dict(job.sources)))
        cold = not all(map(starter.caches.is_warm, job.row_round.cells))
        announce("compiling what later runs share, then importing" if cold else "importing the frameworks")
        self._resources(job).ready([job.row_round.cells[index] for index in job.start_order])
        bound = processors.chosen(job.threads)
        return lambda cell: starter.start(cell, label, processors=bound)

    def alone(
        self,
        environments: Mapping[str, InstalledEnvironment],
        caches: CompileCaches,
        data: Mapping[str, Path | None],
        memory_share: float,
        label: str,
    ) -> Callable[[Cell], Transport]:
        """Return what starts workers in processes of their own, between jobs.

        ``data`` is {workload: what the study names as its input}. A worker may take a share of the memory that is free
        now; ``label`` is part of the names of the logs.
        """
        limit = int(facts.available_bytes() * memory_share)
        starter = Starter(self._root, self._folder, environments, caches, data, limit)
        return lambda cell: starter.start(cell, label, processors=processors.chosen(cell.threads))

    def machine(self) -> Mapping[str, Any]:
        """Return the facts of this machine; they are read once."""
        return self._machine

    def close(self) -> None:
        """End the processes that were kept for further rows of the round."""
        self._parents.close()

    @functools.cached_property
    def _machine(self) -> Mapping[str, Any]:
        return facts.describe()

    @functools.cached_property
    def _available_bytes(self) -> int:
        # Read once: all rows of a run have the same limit.
        return facts.available_bytes()

    def _resources(self, job: RowJob) -> Resources:
        bound = processors.chosen(job.threads)
        limit = None if job.memory_share is None else int(self._available_bytes * job.memory_share)
        registry = Registry.of(dict(job.sources))
        starter = self._starter(job, limit, registry)
        references = References(self._root, self._root / STATE / REFERENCES, job.data_seed, job.threads, registry)

        def start(cell: Cell, *, processors: Sequence[int], layout: int) -> Transport:
            return starter.start(cell, job.log_label, processors=processors, layout=layout)

        def ready(cells: Sequence[Cell]) -> None:
            label = ".".join(filter(None, (job.log_label, self._lane)))
            if not all(map(starter.caches.is_warm, cells)):
                # A compiler of one file leaves processors idle, and nobody measures how long it takes.
                with references.ahead(self._in_advance(job)):
                    starter.warm(cells, job.log_label, processors=bound, timeout_s=job.timeout_s)
            starter.ready(cells, label, processors=bound, timeout_s=job.timeout_s)

        def peaks(cell: Cell, precisions: Sequence[str]) -> Mapping[str, Any]:
            probe = plausibility.probe(cell, registry.facts(cell.framework).modes[0].name)
            # In a process of its own, which has as many threads as the probe.
            own = replace(starter, parents=None)
            places = processors.chosen(cell.threads)
            return plausibility.measure(probe, precisions, lambda it: own.start(it, "peaks-again", processors=places))

        return Resources(
            processors=bound,
            start=start,
            ready=ready,
            caches=starter.caches,
            reference=lambda cell: references.ensure(cell, job.data),
            beside=processors.beside(bound) if job.at_once else (),
            peaks=peaks,
            memory_limit_bytes=limit,
            gpus_shared=bool(self._lane),
        )

    def _in_advance(self, job: RowJob) -> list[tuple[Cell, str | None]]:
        """List the cells whose references are computed in advance, with their data: those with as many threads.

        Where a budget may end the run, it is not spent on rows that may never come.
        """
        return [one for one in self._foreseen.items() if one[0].threads == job.threads and job.left_s is None]

    def _starter(self, job: RowJob, limit: int | None, registry: Registry) -> Starter:
        caches = CompileCaches(
            self._root / STATE / COMPILE_CACHES,
            job.run,
            job.cache_kept,
            describe_each(job.environments),
            registry,
            reads_once=True,
            trial=job.trial,
            seed=job.data_seed,
        )
        source = None if job.data_source is None else Path(job.data_source)
        data = {job.row_round.cells[0].workload: source}
        parents = self._parents if job.forked else None
        return Starter(
            self._root,
            self._folder,
            job.environments,
            caches,
            data,
            limit,
            parents=parents,
            round_seed=job.round_seed,
            most_threads=job.most_threads,
        )
