"""Measures the peaks of this machine with the frameworks of the run: matrix products and copies.

``bench.host.analysis.peaks`` combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from bench.cell import Cell, of_products
from bench.registry import Registry

from ..executors import plausibility
from ..storage.kept_peaks import KeptPeaks
from ..study.twin import is_twin
from ..workers.protocol import Transport

#: A cell to start a worker with, and the precisions to measure.
Probe = tuple[Cell, tuple[str, ...]]


def probes(cells: Iterable[Cell], registry: Registry) -> dict[str, Probe]:
    """Return for each environment and device a cell to start a worker with, and the precisions of its cells.

    The keys are ``environment/device``, followed by the number of threads where it is not the highest. A workload that
    is measured with fewer threads only, such as the call overhead, needs no peaks of its own.
    """
    listed = [cell for cell in cells if not is_twin(cell)]
    most = max((cell.threads for cell in listed), default=1)
    found: dict[str, tuple[Cell, dict[str, None]]] = {}
    for cell in listed:
        if cell.threads == most or cell.threads_named:
            key = f"{cell.environment}/{cell.device}" + (f"/{cell.threads}" if cell.threads < most else "")
            probe = plausibility.probe(cell, registry.facts(cell.framework).modes[0].name)
            found.setdefault(key, (probe, {}))[1].update(dict.fromkeys(of_products(cell.precision)))
    return {key: (cell, tuple(precisions)) for key, (cell, precisions) in found.items()}


def missing(wanted: Mapping[str, Probe], known: Container[str], kept: KeptPeaks) -> list[Cell]:
    """Return the cells of the probes that are to be measured: neither ``known`` nor ``kept`` has their peaks."""
    return [cell for key, (cell, of) in wanted.items() if key not in known and kept.get(cell, of) is None]


def measure_missing(
    wanted: Mapping[str, Probe],
    known: Container[str],
    start: Callable[[Cell], Transport],
    announce: Callable[[str], None],
    kept: KeptPeaks,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Find every wanted probe that ``known`` lacks in ``kept``, or measure it; yield its key and its rates."""
    for key, (cell, precisions) in wanted.items():
        if key in known:
            continue
        found = kept.get(cell, precisions)
        if found is None:
            announce(f"measuring the peaks of this machine with {cell.environment}")
            found = kept.keep(cell, precisions, plausibility.measure(cell, precisions, start))
        yield key, {"threads": cell.threads, **found}
