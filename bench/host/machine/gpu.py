"""Reads from the NVIDIA driver which GPUs there are, which processes are on them, and how much memory each has."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from . import gpu_clocks, gpu_slices
from .gpu_clocks import Clocks
from .nvml import answer, nvml

#: Per cent of a GPU that a process that only draws may use. A desktop takes some while it shows a terminal.
MOST_FOR_DRAWING = 10


def session_of(process: int, proc: Path = Path("/proc")) -> int | None:
    """Return the session of a process; each worker has its own. None where the process has ended."""
    try:
        # The name, in parentheses, can contain any character.
        fields = (proc / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[3])
    except (OSError, ValueError, IndexError):
        return None


@contextlib.contextmanager
def handles(library: Any) -> Iterator[list[Any]]:
    """Give the handle of each GPU, which can be used within the context; None for one that this process cannot open.

    A GPU that is divided into MIG slices has a handle for each of them. Without a driver there are none. ``library``
    has the functions of pynvml.
    """
    try:
        library.nvmlInit()
    except library.NVMLError:
        yield []
        return
    try:
        opened = (_opened(library, number) for number in range(library.nvmlDeviceGetCount()))
        yield [one for gpu in opened for one in (gpu_slices.of(library, gpu) or [gpu])]
    finally:
        library.nvmlShutdown()


def _opened(library: Any, number: int) -> Any:
    # The driver counts GPUs that have failed, and those that others have on a shared machine.
    with contextlib.suppress(library.NVMLError):
        return library.nvmlDeviceGetHandleByIndex(number)
    return None


class Gpus:
    """The GPUs of this machine; without a driver there are no processes on them."""

    def __init__(self, library: Any = None) -> None:
        """``library`` has the functions of pynvml; tests pass a fake."""
        self._nvml = nvml() if library is None else library

    def process_bytes(self) -> list[dict[int, int]]:
        """Return for each GPU the memory of its processes, by process number; 0 where the driver does not give it."""
        with handles(self._nvml) as gpus:
            return [{} if gpu is None else self._bytes_on(gpu) for gpu in gpus]

    def _bytes_on(self, gpu: Any) -> dict[int, int]:
        found: dict[int, int] = {}
        # A process that computes and draws is in both lists, with the same memory.
        for list_processes in (
            self._nvml.nvmlDeviceGetComputeRunningProcesses,
            self._nvml.nvmlDeviceGetGraphicsRunningProcesses,
        ):
            with contextlib.suppress(self._nvml.NVMLError):
                for process in list_processes(gpu):
                    used = found.get(int(process.pid), 0)
                    found[int(process.pid)] = max(used, int(process.usedGpuMemory or 0))
        return found

    def drawing(self, since_s: float) -> set[int]:
        """Return the processes that only draw, as a desktop's do, and that left most of the GPU to others.

        A driver that does not tell what a process used since then, in seconds since the epoch, has not seen it work.
        """
        draw: set[int] = set()
        compute: set[int] = set()
        with handles(self._nvml) as gpus:
            for gpu in gpus:
                draw |= {int(one.pid) for one in answer(self._nvml, "nvmlDeviceGetGraphicsRunningProcesses", gpu) or ()}
                compute |= {
                    int(one.pid) for one in answer(self._nvml, "nvmlDeviceGetComputeRunningProcesses", gpu) or ()
                }
                told = answer(self._nvml, "nvmlDeviceGetProcessUtilization", gpu, int(since_s * 1e6)) or ()
                compute |= {int(one.pid) for one in told if int(one.smUtil) > MOST_FOR_DRAWING}
        return draw - compute

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep the driver's library open within the context, so that it answers at once."""
        with handles(self._nvml):
            yield

    def ours(self, own: Set[int]) -> list[int]:
        """List the numbers of the GPUs on which one of our workers is.

        Where the driver shows none of them, as in a container, this is the only GPU; of several, none.
        """
        with handles(self._nvml) as gpus:
            return self.used_by(own) or ([0] if len(gpus) == 1 and gpus[0] is not None else [])

    def clocks(self, numbers: Sequence[int]) -> dict[int, Clocks]:
        """Read the clocks of these GPUs, by number."""
        return {number: gpu_clocks.read(self._nvml, gpu) for number, gpu in self._whole(numbers)}

    def limits(self, numbers: Sequence[int]) -> dict[str, str]:
        """Return the limits that are set on these GPUs, by name."""
        found: dict[str, dict[str, None]] = {}
        for _, gpu in self._whole(numbers):
            for name, value in gpu_clocks.limits(self._nvml, gpu).items():
                found.setdefault(name, {})[value] = None
        return {name: " and ".join(values) for name, values in found.items()}

    def _whole(self, numbers: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Give the handles of these GPUs, for a slice that of its GPU; each until the next one is asked for."""
        with handles(self._nvml) as gpus:
            for number in numbers:
                if number < len(gpus) and gpus[number] is not None:
                    yield number, gpu_slices.whole(self._nvml, gpus[number])

    def used_by(self, own: Set[int]) -> list[int]:
        """List the numbers of the GPUs on which one of our workers is; empty where the driver shows none of them."""
        found = enumerate(self.process_bytes())
        return [number for number, processes in found if any(is_of(own, each) for each in processes)]

    def free_bytes(self) -> int:
        """Return the free memory of the GPU that has the least of it; 0 where the driver does not say."""
        with contextlib.suppress(self._nvml.NVMLError), handles(self._nvml) as gpus:
            return min(
                (int(self._nvml.nvmlDeviceGetMemoryInfo(gpu).free) for gpu in gpus if gpu is not None), default=0
            )
        return 0


def bytes_of(
    session: int, gpus: Sequence[Mapping[int, int]], sessions: Callable[[int], int | None] = session_of
) -> int:
    """Return the memory of a worker and its children on all GPUs."""
    every = (one for processes in gpus for one in processes.items())
    return sum(size for process, size in every if process == session or sessions(process) == session)


def is_of(own: Set[int], process: int, sessions: Callable[[int], int | None] = session_of) -> bool:
    """Tell whether a process is one of our workers or of their children."""
    return process in own or sessions(process) in own


def other_processes(
    own: Set[int], gpus: Sequence[Mapping[int, int]], sessions: Callable[[int], int | None] = session_of
) -> list[int]:
    """List the processes that belong to none of our workers, on the GPUs that these use.

    Empty where no process is ours: in a container, process ids differ from those of the driver.
    """
    found: set[int] = set()
    for processes in gpus:
        foreign = {process for process in processes if not is_of(own, process, sessions)}
        found |= foreign if len(foreign) < len(processes) else set()
    return sorted(found)
