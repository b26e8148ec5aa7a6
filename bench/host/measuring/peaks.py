"""Measures the peaks of this machine with the frameworks of the run: matrix products and copies.

``bench.host.analysis.peaks`` combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bench.cell import Cell

from ..workers.protocol import Ended, Transport

#: The measurement takes some seconds; the limit is for a machine that is busy.
TIMEOUT_S = 120.0


def probes(cells: Iterable[Cell]) -> list[tuple[Cell, tuple[str, ...]]]:
    """Return for each environment and device a cell to start a worker with, and the precisions of its cells."""
    found: dict[tuple[str, str], tuple[Cell, dict[str, None]]] = {}
    for cell in cells:
        probe = replace(cell, workload="gemm", size="check", precision="float32")
        found.setdefault((cell.environment, cell.device), (probe, {}))[1][cell.precision] = None
    return [(cell, tuple(precisions)) for cell, precisions in found.values()]


def measure_missing(
    cells: Iterable[Cell],
    known: Container[str],
    start: Callable[[Cell], Transport],
    announce: Callable[[str], None],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure with every environment on every device that ``known`` lacks; yield ``environment/device`` and rates."""
    for cell, precisions in probes(cells):
        key = f"{cell.environment}/{cell.device}"
        if key not in known:
            announce(f"measuring the peaks of this machine with {cell.environment}")
            yield key, measure(cell, precisions, start)


def measure(cell: Cell, precisions: Sequence[str], start: Callable[[Cell], Transport]) -> dict[str, Any]:
    """Measure with one framework; values that it cannot give are left out, with the reason."""
    try:
        worker = start(cell)
    except Ended as ended:
        return {"reason": f"{ended.status}: {ended.reason}"}
    try:
        worker.send(do="import", cell=cell.to_json())
        worker.receive(TIMEOUT_S)
        worker.send(do="peaks", precisions=list(precisions))
        answer = worker.receive(TIMEOUT_S)
    except Ended as ended:
        return {"reason": f"{ended.status}: {ended.reason}"}
    finally:
        worker.kill()
    return {name: answer[name] for name in ("flops_per_s", "bandwidths", "reasons")}
