"""Summarises the records of a run: a result for each of its cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from bench.cell import Cell
from bench.record import IMPLAUSIBLE, MISMATCH, OK, Record

from ..statistics.bootstrap import estimate_medians
from ..storage.manifest import Manifest
from ..storage.manifest_schema import FrameworkNames
from .processes import TimedProcess, timed_by_cell
from .results import NOT_RUN, Result


def results_of(records: Iterable[Record], run: Manifest) -> list[Result]:
    """Summarise a run: a result for each cell that was planned, in order, then for those that only records have."""
    own: dict[Cell, list[Record]] = {cell: [] for cell in run.planned}
    for record in records:
        own.setdefault(record.cell, []).append(record)
    for found in own.values():
        found.sort(key=lambda record: (record.round, record.attempt))
    timed = timed_by_cell(record for found in own.values() for record in found)
    made = [
        result_of(cell, found, timed.get(cell, []), run.frameworks.get(cell.framework)) for cell, found in own.items()
    ]
    return _with_steps(made)


def result_of(
    cell: Cell,
    records: Sequence[Record],
    timed: Sequence[TimedProcess],
    names: FrameworkNames | None = None,
) -> Result:
    """Summarise the records of one cell, but for its step time; ``timed`` are those that ended well and have samples.

    A mismatch, or an impossible time, in any process is the status of the whole cell, since its computation is in
    doubt. Otherwise one process with status ``ok`` makes the cell ``ok``, and a note names the others. A cell without a
    record was not run.
    """
    if not records:
        return Result(cell, NOT_RUN, stored_names=names)
    order = (_is_doubtful, lambda record: record.status == OK, lambda record: True)
    speaking = next(record for kind in order for record in reversed(records) if kind(record))
    counted = tuple(timed) if speaking.status == OK else ()
    said = (speaking.status, speaking.stage, speaking.reason)
    return Result(cell, *said, tuple(records), counted, stored_names=names)


def _with_steps(results: Sequence[Result]) -> list[Result]:
    """Add the step times, all at once, as those of equally few processes are computed together."""
    each = [np.array([location.median for location in result.locations]) for result in results if result.timed]
    steps = iter(estimate_medians(each))
    return [replace(result, step=next(steps)) if result.timed else result for result in results]


def _is_doubtful(record: Record) -> bool:
    """Tell whether a process shows that its cell does not compute what it should."""
    return record.status == MISMATCH or record.stage == IMPLAUSIBLE
