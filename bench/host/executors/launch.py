"""Starts the worker of a cell in its environment: as a process, or in a container."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cell import Cell

from .. import project
from ..containers import started_flag
from ..environments import variables
from ..storage.compile_caches import CompileCaches
from ..workers.protocol import Transport
from ..workers.worker_process import WorkerProcess, arguments
from .job import InstalledEnvironment

if TYPE_CHECKING:
    from ..containers.engine import EngineConnection

#: Folders of the project's state that requests to workers name.
READ = ("references", "data")


def launch(
    environment: InstalledEnvironment,
    cell: Cell,
    *,
    root: Path,
    caches: CompileCaches,
    log: Path,
    processors: Sequence[int],
    data: Path | None = None,
    memory_bytes: int | None = None,
    layout: int | None = None,
) -> Transport:
    """Start the worker of a cell in its environment; its output goes to ``log``. Raises Ended.

    ``data`` is what the study names as the input of the workload, ``layout`` the seed of the memory layout.
    ``memory_bytes`` limits a container; a process limits itself.
    """
    code = project.code_folder(root)
    compilers = caches.variables(cell)
    facts = caches.registry.facts(cell.framework)
    sources = caches.registry.others
    own = environment.variables
    given = functools.partial(variables.of_worker, cell.threads, facts, layout=layout, caches=compilers, own=own)
    if environment.manifest.get("provider") != "container":
        return WorkerProcess(
            environment.command,
            folder=code,
            variables=given(),
            log=log,
            processors=processors,
            layout=layout,
            sources=sources,
        )
    # A late import: importing the SDK takes as long as starting a container.
    from ..containers.isolation import VARIABLES, Bounds
    from ..containers.labels import checkout
    from ..containers.worker import ContainerWorker

    state = root / project.STATE
    for folder in READ:
        (state / folder).mkdir(parents=True, exist_ok=True)
    started_flag.put(root)
    bounds = Bounds(
        read=[
            project.PACKAGE,
            code,
            *map(Path, sources.values()),
            *(state / folder for folder in READ),
            *([data] if data else []),
        ],
        write=sorted({Path(path) for path in compilers.values()}),
        processors=processors,
        memory_bytes=memory_bytes,
        gpu=cell.device == "gpu",
    )
    return ContainerWorker(
        _line().engine,
        str(environment.manifest["image"]["id"]),
        [*environment.command, "-m", "bench.worker", *arguments(processors, layout, sources)],
        folder=code,
        variables=given(inherited=VARIABLES),
        bounds=bounds,
        log=log,
        checkout=checkout(root),
    )


@functools.cache
def _line() -> EngineConnection:
    from ..containers.engine import EngineConnection

    return EngineConnection()
