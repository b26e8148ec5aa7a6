"""Measures the power of a device by the machine's own counters: NVIDIA's driver for GPUs, RAPL for processors.

A counter is read in a thread while a cell works. Only its changes count, because the driver renews it ten times a
second: power is what was counted between two changes, over the time between them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Set
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import gpu_slices
from .gpu import Gpus, handles
from .nvml import nvml

RAPL = Path("/sys/class/powercap")
#: Seconds between two readings.
PERIOD_S = 0.02
#: Seconds after which a device that begins to work, or to rest, has settled.
SETTLE_S = 1.0
#: Seconds at rest for the power of an idle device.
IDLE_S = 3.0
#: Changes without which there is no power.
LEAST_CHANGES = 5
#: Why there is no energy on a slice of a GPU.
OF_A_SLICE = "not measured: the driver counts the energy of the whole GPU, not of a MIG slice"


class Counter:
    """Counts the joules that a device has taken since some moment."""

    def __init__(self, name: str, read: Callable[[], float | None]) -> None:
        """``read`` returns joules, or None where nothing counts them."""
        self.name = name
        self.read = read


def gpu_counter(library: Any = None, own: Set[int] = frozenset()) -> Counter:
    """Return the counter of the GPUs on which our workers are, ``own`` by process number, or else of all GPUs.

    ``library`` has the functions of pynvml.
    """
    library = nvml() if library is None else library
    used = Gpus(library).used_by(own)

    def read() -> float | None:
        with contextlib.suppress(library.NVMLError), handles(library) as gpus:
            counted = [gpus[number] for number in used] if used else gpus
            if not counted or any(gpu_slices.is_slice(library, gpu) for gpu in counted):
                return None
            # In millijoules.
            return float(sum(map(library.nvmlDeviceGetTotalEnergyConsumption, counted))) / 1e3
        return None

    return Counter("NVML", read)


def obstacle_of_gpus(library: Any = None, own: Set[int] = frozenset()) -> str:
    """Say why the GPUs with our workers have no energy of their own; empty where nothing is known to prevent it."""
    library = nvml() if library is None else library
    used = Gpus(library).used_by(own)
    with contextlib.suppress(library.NVMLError), handles(library) as gpus:
        counted = [gpus[number] for number in used] if used else gpus
        return OF_A_SLICE if any(gpu_slices.is_slice(library, gpu) for gpu in counted) else ""
    return ""


def processor_counter(folder: Path = RAPL) -> Counter:
    """Return the counter of all processor packages, which the kernel lets only some users read."""
    #: What earlier rounds of a package's counter amount to, and its last reading: {package: (joules, reading)}.
    before: dict[Path, tuple[float, float]] = {}

    def read() -> float | None:
        total = 0.0
        packages = [path for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1]
        for package in packages:
            try:
                reading = int((package / "energy_uj").read_text()) / 1e6
                span = int((package / "max_energy_range_uj").read_text()) / 1e6
            except (OSError, ValueError):
                return None
            passed, last = before.get(package, (0.0, reading))
            passed += span if reading < last else 0.0
            before[package] = (passed, reading)
            total += passed + reading
        return total if packages else None

    return Counter("RAPL", read)


class PowerMeter:
    """Reads a counter while its block lasts: ``with PowerMeter(counter) as meter: …``, then ``meter.watts()``."""

    def __init__(
        self,
        counter: Counter,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Event], bool] = lambda ended: ended.wait(PERIOD_S),
    ) -> None:
        self._counter, self._clock, self._wait = counter, clock, wait
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        #: The moments of the changes, and what was counted.
        self._changes: list[tuple[float, float]] = []
        self._began = self._end = 0.0

    def __enter__(self) -> Self:
        self._began = self._clock()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end = self._clock()
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        last = self._counter.read()
        while last is not None and not self._wait(self._ended):
            counted, now = self._counter.read(), self._clock()
            if counted is None:
                return
            if counted != last:
                self._changes.append((now, counted))
                last = counted

    def watts(self, settle_s: float = SETTLE_S) -> float | None:
        """Return the mean power without the first ``settle_s``; None where the counter changed too rarely."""
        within = [change for change in self._changes if self._began + settle_s <= change[0] <= self._end]
        if len(within) < LEAST_CHANGES:
            return None
        (first, from_joules), (last, to_joules) = within[0], within[-1]
        return (to_joules - from_joules) / (last - first)


class Power:
    """Measures the power of one kind of device, ``cpu`` or ``gpu``."""

    def __init__(self, counters: dict[str, Counter] | None = None, sleep: Callable[[float], None] = time.sleep) -> None:
        """Tests pass other counters."""
        self._counters = counters
        self._sleep = sleep

    def counter(self, device: str, own: Set[int] = frozenset()) -> Counter | None:
        """Return the counter of a device; None where this machine has none.

        Of GPUs only those count on which our workers are: ``own`` are their processes.
        """
        if self._counters is not None:
            found = self._counters.get(device)
        else:
            found = processor_counter() if device == "cpu" else gpu_counter(own=own)
        with contextlib.suppress(Exception):
            if found is not None and found.read() is not None:
                return found
        return None

    def obstacle(self, device: str, own: Set[int] = frozenset()) -> str:
        """Say why a device that has no counter has none; empty where that is not known."""
        return obstacle_of_gpus(own=own) if device == "gpu" and self._counters is None else ""

    def idle_watts(self, counter: Counter) -> float | None:
        """Return the power while this process sleeps and nothing is asked of a worker."""
        with PowerMeter(counter) as meter:
            self._sleep(SETTLE_S + IDLE_S)
        return meter.watts()
