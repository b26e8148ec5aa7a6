"""Watches the GPUs during the turns of a row: their clocks, the memory of its processes, and which others are there."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

from ..machine.gpu import Gpus, bytes_of, other_processes
from ..machine.gpu_clocks import DISTURBING, Clocks, lowered
from .cell_process import CellProcess


class GpuWatch:
    """What is seen on the GPUs of a row; nothing is read for a row on the processor."""

    def __init__(
        self, processes: Sequence[CellProcess], gpus: Gpus, *, shared: bool, now: Callable[[], float] = time.time
    ) -> None:
        """``shared`` is whether other lanes of the run are on the same GPUs, so that nothing there disturbs a turn."""
        self._processes = processes
        self._gpus = gpus
        self._shared = shared
        self._now = now
        #: The numbers of the GPUs that the processes compute on.
        self._ours: list[int] = []
        #: The last reading of each GPU's clock.
        self._clocks: dict[int, Clocks] = {}
        #: When the processes were seen last.
        self._seen_s = now()
        #: The turns that were disturbed on a GPU, and by what.
        self.disturbed: dict[int, str] = {}

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep the driver's library open during the turns; note the limits that are set before the first one."""
        on_gpu = self._on_gpu()
        if not on_gpu:
            yield
            return
        with self._gpus.held():
            self._ours = self._gpus.ours(self._own())
            limits = self._gpus.limits(self._ours)
            for process in on_gpu:
                process.note_settings(limits)
            self._clocks = self._gpus.clocks(self._ours)
            self._seen_s = self._now()
            yield

    def note_clocks(self, process: CellProcess, turn: int) -> None:
        """Note how fast the GPU's clock ran in the sample that a process has just taken, and what limited it.

        Nothing is read while the sample is taken: the driver's lock could delay it.
        """
        if process.record.cell.device != "gpu":
            return
        before, self._clocks = self._clocks, self._gpus.clocks(self._ours)
        limits = {reason for gpu, now in self._clocks.items() for reason in lowered(before.get(gpu), now)}
        process.note_clocks([now.mhz for now in self._clocks.values() if now.mhz is not None], limits)
        for reason in sorted(limits.intersection(DISTURBING)):
            self._disturb(turn, f"{reason} of the GPU")

    def check(self, turn: int) -> None:
        """Note the memory of each process as the driver reports it, and whether others were on the same GPUs."""
        on_gpu = self._on_gpu()
        if not on_gpu:
            return
        found = self._gpus.process_bytes()
        for process in on_gpu:
            used = bytes_of(process.process_id, found) if process.process_id is not None else 0
            if used:
                process.note_memory("nvml_peak_bytes", used)
        others = other_processes(self._own(), found)
        if others:
            drawing = self._gpus.drawing(self._seen_s)
            foreign = [str(other) for other in others if other not in drawing]
            if foreign:
                self._disturb(turn, f"another process on the GPU: {', '.join(foreign)}")
        self._seen_s = self._now()

    def _disturb(self, turn: int, reason: str) -> None:
        before = self.disturbed.get(turn, "")
        if not self._shared and reason not in before:
            self.disturbed[turn] = f"{before}; {reason}" if before else reason

    def _on_gpu(self) -> list[CellProcess]:
        return [process for process in self._processes if process.record.cell.device == "gpu" and not process.over]

    def _own(self) -> set[int]:
        return {process.process_id for process in self._processes if process.process_id is not None}
