"""Defines what a row measurement uses of the machine: processors, workers, caches, references, GPUs and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench.cell import Cell

from ..machine.energy import Power
from ..machine.gpu import Gpus
from ..storage.compile_caches import CompileCaches
from ..workers.protocol import Transport


class Start(Protocol):
    """Starts the worker of a cell, bound to processors, with the seed of its memory layout. Raises Ended."""

    def __call__(self, cell: Cell, *, processors: Sequence[int], layout: int) -> Transport: ...


@dataclass(frozen=True)
class Resources:
    """What one job uses of the machine; tests pass fakes."""

    #: The processors on which workers are measured.
    processors: tuple[int, ...]
    start: Start
    caches: CompileCaches
    #: Returns the path of the float64 reference of a cell and computes it where needed. Raises Ended.
    reference: Callable[[Cell], Path]
    #: As many processors of the same kind on other cores; empty where there are too few.
    beside: tuple[int, ...] = ()
    #: Prepares what these cells share and none of them is measured with: processes that have imported the frameworks,
    #: from which workers are forked, and what a compiler compiles once in an installation.
    ready: Callable[[Sequence[Cell]], None] = lambda cells: None
    #: Measures the peaks of the machine with a cell's framework and threads, in these precisions.
    peaks: Callable[[Cell, Sequence[str]], Mapping[str, Any]] = lambda cell, precisions: {}
    memory_limit_bytes: int | None = None
    gpus: Gpus = field(default_factory=Gpus)
    #: Other lanes of the same run compute on the GPUs, too, so that no process there counts as foreign.
    gpus_shared: bool = False
    power: Power = field(default_factory=Power)
    clock: Callable[[], float] = time.monotonic
