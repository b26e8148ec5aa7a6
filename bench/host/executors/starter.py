"""Starts workers in their environments, with their variables, compilation caches and logs."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.cell import Cell

from ..environments.variables import of_threads
from ..machine.processors import chosen
from ..storage import worker_logs
from ..storage.compile_caches import CompileCaches
from ..storage.file_names import slug
from ..study.twin import original, original_cell
from ..workers.protocol import Ended, Transport, ask
from .job import InstalledEnvironment
from .launch import Launch, open_folders
from .parents import Parents, Wanted


@dataclass(frozen=True)
class Starter:
    """Starts the workers of one run on this machine."""

    root: Path
    #: The logs go to ``logs`` in it.
    folder: Path
    environments: Mapping[str, InstalledEnvironment]
    caches: CompileCaches
    #: {workload: what the study names as its input}
    data: Mapping[str, Path | None] = field(default_factory=dict)
    memory_limit_bytes: int | None = None
    #: Workers are forked from these; None starts a process for each.
    parents: Parents | None = None
    #: The seed of what workers share with the process that they are forked from.
    round_seed: int | None = None
    #: The most threads of a worker in this run.
    most_threads: int = 0

    def start(self, cell: Cell, label: str, *, processors: Sequence[int], layout: int | None = None) -> Transport:
        """Start a worker; ``label`` tells its log from those of other workers of the cell. Raises Ended.

        ``layout`` is the seed of the memory layout; None leaves it to the system.
        """
        log = worker_logs.path_of(self.folder, cell, label)
        launch = self._launch(cell, log, processors, layout)
        if self.parents is None or not self._forks(cell):
            return launch.worker()
        parent = self.parents.get(self._key(cell))
        variables = self.caches.variables(cell)
        if launch.environment.in_container:
            open_folders(list(variables.values()))
        variables = {**launch.gpus, **variables}
        if self._threads(cell) != cell.threads:
            given = of_threads(cell.threads, self.caches.registry.facts(cell.framework))
            variables = {**given, **launch.environment.variables, **variables}
        return parent.fork(log=log, processors=processors, layout=layout, variables=variables)

    def ready(self, cells: Sequence[Cell], label: str, *, processors: Sequence[int], timeout_s: float) -> None:
        """Have the frameworks imported from which the workers of these cells are forked, each on a processor."""
        if self.parents is None:
            return
        wanted: dict[Hashable, Wanted] = {}
        for cell in filter(self._forks, cells):
            key = self._key(cell)
            most = self._threads(cell)
            log = self.folder / worker_logs.FOLDER / f"{slug(cell.environment, cell.device, most)}.{label}.parent.log"
            places = processors if most == cell.threads else chosen(most)
            launch = self._launch(replace(cell, threads=most), log, places, self.round_seed)
            before = wanted[key].preloads if key in wanted else ()
            training = bool(self.caches.registry.specification(cell.workload).TRAINING)
            needs = self.caches.registry.facts(cell.framework).preloads(cell.mode, training=training)
            wanted[key] = Wanted(launch.parent, tuple(dict.fromkeys((*before, *needs))))
        self.parents.ready(wanted, len(processors), timeout_s)

    def warm(self, cells: Iterable[Cell], label: str, *, processors: Sequence[int], timeout_s: float) -> None:
        """Let each mode compile what it compiles once in an installation, such as headers; see ``Mode.precompiles``.

        A failure is left to the cells, which report it with their own stage.
        """
        for cell in cells:
            if not self.caches.is_warm(cell):
                with self.caches.warming(cell):
                    self._warm(cell, label, processors, timeout_s)

    def _warm(self, cell: Cell, label: str, processors: Sequence[int], timeout_s: float) -> None:
        if self.caches.is_warm(cell):
            return  # Another process has just done it.
        probe = replace(original_cell(cell), workload="warm-up", size="any")
        try:
            # Not forked: what it compiles is found by the process that the others are forked from.
            worker = self._launch(probe, worker_logs.path_of(self.folder, probe, label), processors, None).worker()
        except Ended:
            return
        with contextlib.suppress(Ended):
            ask(worker, timeout_s, do="warm", cell=probe.to_json())
            self.caches.note_warm(cell)
        worker.kill()

    def _forks(self, cell: Cell) -> bool:
        return self.parents is not None and not self.caches.registry.facts(cell.framework).not_forked

    def _key(self, cell: Cell) -> Hashable:
        """Name the parent of a cell's worker; a container has the input data of one row only.

        A twin has a parent of its own, as two environments have: what a parent draws is part of a comparison.
        """
        in_container = self.environments[original(cell.environment)].in_container
        data = tuple(map(str, self.data.values())) if in_container else ()
        return (cell.environment, cell.device, self._threads(cell), data)

    def _threads(self, cell: Cell) -> int:
        """Return the threads of the parent of a cell's worker."""
        sets = self.caches.registry.facts(cell.framework).sets_threads
        return max(cell.threads, self.most_threads) if sets else cell.threads

    def _launch(self, cell: Cell, log: Path, processors: Sequence[int], layout: int | None) -> Launch:
        return Launch(
            self.environments[original(cell.environment)],
            cell,
            root=self.root,
            caches=self.caches,
            log=log,
            processors=processors,
            data=self.data.get(cell.workload),
            memory_bytes=self.memory_limit_bytes,
            layout=layout,
        )
