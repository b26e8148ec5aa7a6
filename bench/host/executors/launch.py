"""Starts the worker of a cell, or the parent of workers, in an environment: as a process, or in a container."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.cell import Cell

from .. import project
from ..containers import started_flag
from ..containers.process_ids import outside
from ..environments import variables
from ..storage.compile_caches import CompileCaches
from ..workers.parent import Parent
from ..workers.protocol import Transport
from ..workers.worker_process import WorkerProcess, arguments
from .job import InstalledEnvironment

if TYPE_CHECKING:
    from ..containers.engine import EngineConnection
    from ..containers.worker import ContainerWorker

#: In a trial, whose times mean nothing, threads do not wait busily for others of their process: beside other cells
#: they would take the processors from them.
PATIENT = {"OMP_WAIT_POLICY": "passive"}
#: Folders of the project's state that requests to workers name.
READ = (project.REFERENCES, project.INPUT_DATA)


@dataclass(frozen=True)
class Launch:
    """Where and with what a process of a cell's environment is started."""

    environment: InstalledEnvironment
    cell: Cell
    root: Path
    caches: CompileCaches
    #: Its output goes there.
    log: Path
    processors: Sequence[int]
    #: What the study names as the input of the workload.
    data: Path | None = None
    #: Limits a container; a process limits itself.
    memory_bytes: int | None = None
    #: The seed of the memory layout.
    layout: int | None = None

    def worker(self) -> Transport:
        """Start the worker of the cell. Raises Ended."""
        made: Transport = self._start(self.caches.variables(self.cell), self.gpus, parent=False)
        return made

    @property
    def gpus(self) -> dict[str, str]:
        """Return the variables that say which GPUs the worker sees; a container numbers its own.

        What the study sets for the environment goes before them, also where they are given to a forked worker.
        """
        inherited = {} if self.environment.in_container else os.environ
        found = variables.of_gpus(self.cell.device, self.cell.devices, inherited)
        return {name: self.environment.variables.get(name, value) for name, value in found.items()}

    def parent(self) -> Parent:
        """Start the parent of workers of cells of this environment. Raises Ended."""
        # A worker is told what GPUs it sees when it is forked.
        connection = self._start(self.caches.shared_variables(self.cell), {}, parent=True)
        if not self.environment.in_container:
            return Parent(connection, self.cell.framework, _same_id)
        versions = {"image": str(self.environment.manifest["image"]["id"])}
        lost = connection.lost_a_process
        return Parent(connection, self.cell.framework, outside, versions=versions, lost_a_process=lost)

    def _start(self, cache_variables: Mapping[str, str], gpus: Mapping[str, str], *, parent: bool) -> Any:
        facts = self.caches.registry.facts(self.cell.framework)
        sources = self.caches.registry.others
        trial = {**PATIENT, **facts.trial_variables} if self.caches.trial else {}
        worker_variables = functools.partial(
            variables.of_worker,
            self.cell.threads,
            facts,
            layout=self.layout,
            caches=cache_variables,
            own={**trial, **gpus, **self.environment.variables},
        )
        # A command may be a link or a script that starts the interpreter.
        found = self.environment.manifest.get("interpreter", {})
        interpreter = found.get("executable", self.environment.command[0])
        if self.environment.in_container:
            words = arguments(self.processors, self.layout, sources, parent=parent)
            written = self.caches.folders(self.cell) if parent else cache_variables.values()
            return self._container(words, worker_variables, written)
        return WorkerProcess(
            self.environment.command,
            folder=project.code_folder(self.root),
            variables=worker_variables(interpreter=interpreter),
            log=self.log,
            processors=self.processors,
            layout=self.layout,
            sources=sources,
            parent=parent,
        )

    def _container(
        self, words: Sequence[str], worker_variables: Callable[..., dict[str, str]], written: Iterable[str]
    ) -> ContainerWorker:
        """Start a container that can write to the folders ``written`` and to no others."""
        # Late imports: importing the SDK takes as long as starting a container.
        from ..containers.isolation import VARIABLES, Bounds
        from ..containers.labels import checkout
        from ..containers.worker import ContainerWorker

        code = project.code_folder(self.root)
        state = self.root / project.STATE
        for folder in READ:
            (state / folder).mkdir(parents=True, exist_ok=True)
        started_flag.put(self.root)
        bounds = Bounds(
            read=[
                project.PACKAGE,
                code,
                *map(Path, self.caches.registry.others.values()),
                *(state / folder for folder in READ),
                *([self.data] if self.data else []),
            ],
            write=sorted({Path(path) for path in written}),
            processors=self.processors,
            memory_bytes=self.memory_bytes,
            gpu=self.cell.device == "gpu",
        )
        return ContainerWorker(
            _engine_connection().engine,
            str(self.environment.manifest["image"]["id"]),
            [*self.environment.command, "-m", "bench.worker", *words],
            folder=code,
            variables=worker_variables(inherited=VARIABLES),
            bounds=bounds,
            log=self.log,
            checkout=checkout(self.root),
        )


def open_folders(paths: Sequence[str]) -> None:
    """Make folders that a running container can write to."""
    from ..containers.isolation import open_folder

    engine = _engine_connection().engine()
    for path in paths:
        open_folder(Path(path), engine)


def _same_id(outer: int, inner: int) -> int:
    """Return the number of a process: one that does not run in a container has no other."""
    return inner


@functools.cache
def _engine_connection() -> EngineConnection:
    from ..containers.engine import EngineConnection

    return EngineConnection()
