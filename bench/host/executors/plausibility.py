"""Fails the cells of a row that were faster than the machine can be, after measuring again what it can.

A machine's speed changes: the peaks may have been measured while it was slow, the cell while it was fast. So a cell is
not failed by a peak of half an hour ago; the framework that was faster than the peaks measures them anew, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.cell import Cell

from ..analysis import peaks
from ..storage.kept_peaks import best
from ..study.twin import original_cell
from ..workers.protocol import Ended, Transport, ask
from .cell_process import CellProcess
from .events import Emit, PeaksFound, Progress

#: The measurement of peaks takes some seconds; the limit is for a machine that is busy.
TIMEOUT_S = 120.0
#: Measures peaks: see ``measure``.
Measure = Callable[[Cell, Sequence[str]], Mapping[str, Any]]


def judge(
    processes: Iterable[CellProcess], known: Mapping[str, Mapping[str, Any]], measure: Measure, emit: Emit
) -> None:
    """Fail the processes whose samples cannot be true; ``known`` are the peaks of the run so far."""
    suspects = [process for process in processes if peaks.implausible(process.record, known)]
    together: dict[str, list[CellProcess]] = {}
    for each in suspects:
        together.setdefault(_key(each, known), []).append(each)
    for key, alike in together.items():
        emit(Progress("measuring the peaks again with", alike[0].name))
        cell = original_cell(alike[0].record.cell)
        threads = known.get(key, {}).get("threads", cell.threads)
        precisions = list(dict.fromkeys(peaks.computed_in(each.record) for each in alike))
        found = measure(replace(cell, threads=threads), precisions)
        if found.get("flops_per_s") or found.get("bandwidths"):
            known = {**known, key: best({"threads": threads, **found}, known.get(key, {}))}
            emit(PeaksFound(key, known[key]))
    fail(suspects, known)


def fail(processes: Iterable[CellProcess], known: Mapping[str, Mapping[str, Any]]) -> None:
    """Fail the processes that were faster than these peaks allow."""
    for process in processes:
        reason = peaks.implausible(process.record, known)
        if reason is not None:
            process.note_implausible(reason)


def _key(process: CellProcess, known: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the key of a process's environment and device with the most threads: those peaks bound fewer, too."""
    cell = original_cell(process.record.cell)
    plain = f"{cell.environment}/{cell.device}"
    keys = [key for key in known if key == plain or key.startswith(f"{plain}/")]
    return max(keys, key=lambda key: known[key].get("threads", 0), default=plain)


def probe(cell: Cell, plain_mode: str) -> Cell:
    """Return what a worker is started as that measures the peaks with a cell's framework.

    In the plain mode: one that divides the threads among devices computes products with a part of them.
    """
    return replace(cell, mode=plain_mode, devices=1, workload="gemm", size="check", precision="float32")


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
