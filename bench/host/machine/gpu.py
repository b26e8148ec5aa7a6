"""Reads from the NVIDIA driver which processes are on the GPUs, and how much memory each has."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


class Gpus:
    """The GPUs of this machine; without a driver there are no processes on them."""

    def __init__(self, library: Any = None) -> None:
        """``library`` has the functions of pynvml; tests pass a fake."""
        if library is None:
            import pynvml  # type: ignore[import-untyped]  # it ships no types

            library = pynvml
        self._nvml = library

    def process_bytes(self) -> dict[int, int]:
        """Return the memory of every process on all GPUs, by process number; 0 where the driver does not give it."""
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

    def free_bytes(self) -> int:
        """Return the free memory of the GPU that has the least of it; 0 where the driver does not say."""
        with contextlib.suppress(self._nvml.NVMLError):
            return min((int(self._nvml.nvmlDeviceGetMemoryInfo(handle).free) for handle in self._handles()), default=0)
        return 0

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
    """Return the session of a process; each worker has its own. None where the process has ended."""
    try:
        # The name, in parentheses, can contain any character.
        fields = (proc / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[3])
    except (OSError, ValueError, IndexError):
        return None


def bytes_of(session: int, processes: dict[int, int], sessions: Callable[[int], int | None] = session_of) -> int:
    """Return the memory of a worker and its children."""
    return sum(size for process, size in processes.items() if process == session or sessions(process) == session)


def other_processes(
    own: set[int], processes: dict[int, int], sessions: Callable[[int], int | None] = session_of
) -> list[int]:
    """List the processes on the GPUs that belong to none of our workers.

    Empty where none of them is ours: in a container, process ids differ from those of the driver.
    """
    foreign = sorted(process for process in processes if process not in own and sessions(process) not in own)
    return foreign if len(foreign) < len(processes) else []
