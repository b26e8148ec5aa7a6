"""Measures the energy of a row's cells: each computes alone while the counter of its device is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..machine.energy import Power
from .cell_process import CellProcess


def measure(
    processes: Sequence[CellProcess], power: Power, seconds: float, before: Callable[[CellProcess], None]
) -> None:
    """Let each process compute for so long, after a rest in which all of them are stopped.

    ``before`` is called before each. Where no counter is for the device, a setting says why, if that is known.
    """
    own = {process.process_id for process in processes if process.process_id is not None and not process.over}
    device = processes[0].record.cell.device
    counter = power.counter(device, own)
    if counter is None:
        obstacle = power.obstacle(device, own)
        for process in processes:
            process.note_settings({"energy": obstacle} if obstacle else {})
        return
    idle_watts = power.idle_watts(counter)
    for process in processes:
        if not process.over:
            before(process)
            process.measure_energy(counter, seconds, idle_watts)
