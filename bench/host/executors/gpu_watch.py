"""Checks the GPUs between the turns of a row: the memory of its processes, and which other processes are there."""

from __future__ import annotations

from collections.abc import Sequence

from ..machine.gpu import Gpus, bytes_of, other_processes
from .cell_process import CellProcess


def check(processes: Sequence[CellProcess], gpus: Gpus) -> list[int]:
    """Note the memory of each process as the driver reports it; return the ids of others on the same GPUs."""
    on_gpu = [process for process in processes if process.record.cell.device == "gpu" and not process.over]
    if not on_gpu:
        return []
    found = gpus.process_bytes()
    for process in on_gpu:
        used = bytes_of(process.process_id, found) if process.process_id is not None else 0
        if used:
            process.note_memory("nvml_peak_bytes", used)
    return other_processes({one.process_id for one in processes if one.process_id is not None}, found)
