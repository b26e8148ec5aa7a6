"""Measures the peaks of this machine with the frameworks of the run: matrix products and copies.

``bench.host.analysis.peaks`` combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bench.cell import Cell

from ..storage.kept_peaks import KeptPeaks
from ..workers.protocol import Ended, Transport, ask

#: The measurement takes some seconds; the limit is for a machine that is busy.
TIMEOUT_S = 120.0


def probes(cells: Iterable[Cell]) -> dict[str, tuple[Cell, tuple[str, ...]]]:
    """Return for each environment and device a cell to start a worker with, and the precisions of its cells.

    The keys are ``environment/device``, followed by the number of threads where it is not the highest. A workload that
    is measured with fewer threads only, such as the call overhead, needs no peaks of its own.
    """
    listed = list(cells)
    most = max((cell.threads for cell in listed), default=1)
    found: dict[str, tuple[Cell, dict[str, None]]] = {}
    for cell in listed:
        if cell.threads == most or cell.threads_named:
            key = f"{cell.environment}/{cell.device}" + (f"/{cell.threads}" if cell.threads < most else "")
            probe = replace(cell, workload="gemm", size="check", precision="float32")
            found.setdefault(key, (probe, {}))[1][cell.precision] = None
    return {key: (cell, tuple(precisions)) for key, (cell, precisions) in found.items()}


def measure_missing(
    cells: Iterable[Cell],
    known: Container[str],
    start: Callable[[Cell], Transport],
    announce: Callable[[str], None],
    kept: KeptPeaks,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Find every probe that ``known`` lacks in ``kept``, or measure it; yield its key and its rates."""
    for key, (cell, precisions) in probes(cells).items():
        if key in known:
            continue
        found = kept.get(cell, precisions)
        if found is None:
            announce(f"measuring the peaks of this machine with {cell.environment}")
            found = kept.keep(cell, precisions, measure(cell, precisions, start))
        yield key, {"threads": cell.threads, **found}


def forget(cells: Iterable[Cell], kept: KeptPeaks) -> None:
    """Let the next run measure the peaks again."""
    for cell, precisions in probes(cells).values():
        kept.forget(cell, precisions)


def measure(cell: Cell, precisions: Sequence[str], start: Callable[[Cell], Transport]) -> dict[str, Any]:
    """Measure with one framework; values that it cannot give are left out, with the reason."""
    try:
        worker = start(cell)
    except Ended as ended:
        return {"reason": f"{ended.status}: {ended.reason}"}
    try:
        ask(worker, TIMEOUT_S, do="import", cell=cell.to_json())
        answer = ask(worker, TIMEOUT_S, do="peaks", precisions=list(precisions))
    except Ended as ended:
        return {"reason": f"{ended.status}: {ended.reason}"}
    finally:
        worker.kill()
    return {name: answer[name] for name in ("flops_per_s", "bandwidths", "reasons")}
