"""Knows how a cell's worker starts where its environment is: as a process, or in a container."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cell import Cell

from .. import project
from ..containers import started_flag
from ..environments import variables
from ..environments.outcome import Prepared
from ..storage.compile_caches import CompileCaches
from ..workers.protocol import Transport
from ..workers.worker_process import WorkerProcess, arguments

if TYPE_CHECKING:
    from ..containers.engine import EngineConnection

#: Folders of the checkout's state that requests name.
READ = ("references", "data")


def launch(
    prepared: Prepared,
    cell: Cell,
    *,
    root: Path,
    caches: CompileCaches,
    extra: Mapping[str, str],
    log: Path,
    processors: Sequence[int],
    data: Path | None = None,
    memory_bytes: int | None = None,
    layout: int | None = None,
) -> Transport:
    """Start the worker of a cell in its environment; its output goes to ``log``. Raises Ended.

    ``extra`` are the variables that the environment asks for, ``data`` is what the study names as the workload's input;
    ``memory_bytes`` limits a container, a process limits itself.
    """
    code = project.code_folder(root)
    compilers = caches.variables(cell)
    facts = caches.registry.facts(cell.framework)
    given = functools.partial(variables.of_worker, cell.threads, facts, layout=layout, caches=compilers, own=extra)
    if prepared.manifest.get("provider") != "container":
        return WorkerProcess(
            prepared.command,
            folder=code,
            variables=given(),
            log=log,
            processors=processors,
            layout=layout,
        )
    # Imported only now: the SDK takes as long as a container.
    from ..containers.isolation import VARIABLES, Bounds
    from ..containers.labels import checkout
    from ..containers.worker import ContainerWorker

    state = root / ".nox"
    for folder in READ:
        (state / folder).mkdir(parents=True, exist_ok=True)
    started_flag.put(root)
    bounds = Bounds(
        read=[project.PACKAGE, code, *(state / folder for folder in READ), *([data] if data else [])],
        write=sorted({Path(path) for path in compilers.values()}),
        processors=processors,
        memory_bytes=memory_bytes,
        gpu=cell.device == "gpu",
    )
    return ContainerWorker(
        _line().engine,
        str(prepared.manifest["image"]["id"]),
        [*prepared.command, "-m", "bench.worker", *arguments(processors, layout)],
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
