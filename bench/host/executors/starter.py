"""Starts workers in their environments, with their variables, compilation caches and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.cell import Cell

from ..storage.compile_caches import CompileCaches, slug
from ..study.twin import original
from ..workers.protocol import Transport
from .job import InstalledEnvironment
from .launch import launch


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

    def start(self, cell: Cell, label: str, *, processors: Sequence[int], layout: int | None = None) -> Transport:
        """Start a worker; ``label`` tells its log from those of other workers of the cell. Raises Ended.

        ``layout`` is the seed of the memory layout; None leaves it to the system.
        """
        return launch(
            self.environments[original(cell.environment)],
            cell,
            root=self.root,
            caches=self.caches,
            log=self.folder / "logs" / f"{slug(cell.column, cell.row)}.{label}.log",
            processors=processors,
            data=self.data.get(cell.workload),
            memory_bytes=self.memory_limit_bytes,
            layout=layout,
        )
