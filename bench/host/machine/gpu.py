"""Knows what the NVIDIA driver says of processes on the GPUs, seen from outside: their memory, and who is there."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


class Gpus:
    """The GPUs of this machine; without a driver there is nobody on them."""

    def __init__(self, library: Any = None) -> None:
        """``library`` speaks NVML as pynvml does; a test passes its own."""
        if library is None:
            import pynvml  # type: ignore[import-untyped]  # it ships no types

            library = pynvml
        self._nvml = library

    def process_bytes(self) -> dict[int, int]:
        """Return the memory of every process on all GPUs, by process number; 0 where the driver keeps it secret."""
        found: Counter[int] = Counter()
        for handle in self._handles():
            here: dict[int, int] = {}
            # A process that computes and draws is in both lists, with the same memory.
            for list_processes in self._lists():
                with contextlib.suppress(self._nvml.NVMLError):
                    for process in list_processes(handle):
                        used = here.get(int(process.pid), 0)
                        here[int(process.pid)] = max(used, int(process.usedGpuMemory or 0))
            found.update(here)
        return dict(found)

    def _lists(self) -> Iterator[Callable[[Any], Any]]:
        yield self._nvml.nvmlDeviceGetComputeRunningProcesses
        yield self._nvml.nvmlDeviceGetGraphicsRunningProcesses

    def _handles(self) -> Iterator[Any]:
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError:
            return
        try:
            for index in range(self._nvml.nvmlDeviceGetCount()):
                yield self._nvml.nvmlDeviceGetHandleByIndex(index)
        finally:
            self._nvml.nvmlShutdown()


def session_of(process: int, proc: Path = Path("/proc")) -> int | None:
    """Return the session that a process belongs to; each worker began one of its own. None when it is gone."""
    try:
        # The name, in parentheses, may hold anything.
        fields = (proc / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[3])
    except (OSError, ValueError, IndexError):
        return None


def bytes_of(session: int, processes: dict[int, int], sessions: Callable[[int], int | None] = session_of) -> int:
    """Return the memory of a worker and its children."""
    return sum(size for process, size in processes.items() if process == session or sessions(process) == session)


def foreigners(
    own: set[int], processes: dict[int, int], sessions: Callable[[int], int | None] = session_of
) -> list[int]:
    """List the processes on the GPUs that belong to none of our workers.

    Where none of them is ours, as in a container, whose process numbers are not the driver's, nobody can be told apart.
    """
    foreign = sorted(process for process in processes if process not in own and sessions(process) not in own)
    return foreign if len(foreign) < len(processes) else []
