"""Knows how a worker of a cell is started: in its environment, with its variables, compilation cache and log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.cell import Cell

from ..environments import Prepared
from ..storage.compile_caches import CompileCaches, slug
from ..study.schema import Environment
from ..study.twin import original
from ..workers.protocol import Transport
from .launch import launch


@dataclass(frozen=True)
class Starter:
    """Starts the workers of one run."""

    root: Path
    #: Where the logs go.
    folder: Path
    prepared: Mapping[str, Prepared]
    environments: Mapping[str, Environment]
    caches: CompileCaches
    processors: tuple[int, ...]
    #: {workload: what the study names as its input}
    data: Mapping[str, Path | None] = field(default_factory=dict)
    memory_limit_bytes: int | None = None

    def start(self, cell: Cell, label: str, layout: int | None = None) -> Transport:
        """Start a worker; ``label`` tells its log from those of the cell's other workers. Raises Ended.

        ``layout`` is the seed of its memory layout, any where there is none.
        """
        name = original(cell.environment)
        return launch(
            self.prepared[name],
            cell,
            root=self.root,
            caches=self.caches,
            extra={**self.prepared[name].manifest.get("variables", {}), **self.environments[name].variables},
            log=self.folder / "logs" / f"{slug(cell.column, cell.row)}.{label}.log",
            processors=self.processors,
            data=self.data.get(cell.workload),
            memory_bytes=self.memory_limit_bytes,
            layout=layout,
        )
