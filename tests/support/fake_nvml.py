"""Stands in for NVML, NVIDIA's management library: two GPUs, of which an old driver does not tell everything.

With ``lost`` there is a third one between them, which cannot be opened. With ``slices`` the second one is divided: each
slice is its parts of the GPU's processors, those of its compute instance, and its mebibytes.
"""

from __future__ import annotations

from ctypes import c_uint
from types import SimpleNamespace


class Nvml:
    class NVMLError(Exception):
        pass

    def __init__(
        self,
        *,
        absent: bool = False,
        old: bool = False,
        lost: bool = False,
        slices: tuple[tuple[int, int, int], ...] = (),
    ) -> None:
        self.absent = absent
        self.old = old
        self.lost = lost
        self.slices = slices
        self.open = 0
        #: What the driver tells of each GPU's clock: the bits of reasons, and nanoseconds for each perf policy.
        self.reasons = [0, 0]
        self.violations: list[dict[int, int]] = [{0: 0, 1: 0}, {0: 0, 1: 0}]
        #: What processes used of a GPU, in per cent, and since when it was asked for.
        self.used: dict[int, int] = {}
        self.since: list[int] = []

    def nvmlInit(self):
        if self.absent:
            raise self.NVMLError
        self.open += 1

    def nvmlShutdown(self):
        self.open -= 1

    def nvmlDeviceGetCount(self):
        return 3 if self.lost else 2

    def nvmlDeviceGetHandleByIndex(self, index):
        if self.lost and index == 1:
            raise self.NVMLError
        return index // 2 if self.lost else index

    def nvmlSystemGetDriverVersion(self):
        return "580.65"

    def nvmlDeviceGetMigMode(self, handle):
        if self.old:
            raise self.NVMLError
        return [int(bool(self.slices) and handle == 1), 0]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle):
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index):
        if index >= len(self.slices):
            raise self.NVMLError
        return (handle, index)

    def nvmlDeviceIsMigDeviceHandle(self, handle):
        # The library returns what ctypes has for a number.
        return c_uint(isinstance(handle, tuple))

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle):
        return handle[0]

    def nvmlDeviceGetAttributes(self, handle):
        slices, own, size = self.slices[handle[1]]
        return SimpleNamespace(gpuInstanceSliceCount=slices, computeInstanceSliceCount=own, memorySizeMB=size)

    def nvmlDeviceGetClockInfo(self, handle, kind):
        assert kind == 1, "the clock of the multiprocessors"
        return 1400 + handle

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        return self.reasons[handle]

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle):
        if self.old:
            raise self.NVMLError
        return self.reasons[handle]

    def nvmlDeviceGetViolationStatus(self, handle, policy):
        if self.old:
            raise self.NVMLError
        return SimpleNamespace(violationTime=self.violations[handle][policy])

    def nvmlDeviceGetApplicationsClock(self, handle, kind):
        return 1200

    def nvmlDeviceGetDefaultApplicationsClock(self, handle, kind):
        return 1200 + 300 * handle

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):
        if self.old:
            raise self.NVMLError
        return 500_000

    def nvmlDeviceGetPowerManagementDefaultLimit(self, handle):
        return 700_000

    def nvmlDeviceGetProcessUtilization(self, handle, since):
        self.since.append(since)
        if not self.used:
            raise self.NVMLError
        return [SimpleNamespace(pid=process, smUtil=used) for process, used in self.used.items()]

    def nvmlDeviceGetName(self, handle):
        # An old pynvml returns bytes.
        name = f"GPU {handle[0] if isinstance(handle, tuple) else handle}"
        return name.encode() if self.old else name

    def nvmlDeviceGetMemoryInfo(self, handle):
        if self.slices:
            # Of an H200, and of its slices.
            total = 143771 << 20 if isinstance(handle, int) else self.slices[handle[1]][2] << 20
            return SimpleNamespace(total=total, used=0, free=total)
        return SimpleNamespace(total=1000, used=400 + handle, free=600 - handle)

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        if isinstance(handle, tuple):
            return [SimpleNamespace(pid=20 + handle[1], usedGpuMemory=50)]
        return [SimpleNamespace(pid=10 + handle, usedGpuMemory=100), SimpleNamespace(pid=30, usedGpuMemory=None)]

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle):
        if self.old:
            raise self.NVMLError
        return [SimpleNamespace(pid=99, usedGpuMemory=5)]

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        assert not isinstance(handle, tuple)
        if self.old:
            raise self.NVMLError
        return 1500 * (handle + 1)
