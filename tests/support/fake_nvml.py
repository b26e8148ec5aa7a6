"""Stands in for NVML, NVIDIA's management library: two GPUs, of which an old driver does not tell everything.

With ``lost`` there is a third one between them, which cannot be opened.
"""

from __future__ import annotations

from types import SimpleNamespace


class Nvml:
    class NVMLError(Exception):
        pass

    def __init__(self, *, absent: bool = False, old: bool = False, lost: bool = False) -> None:
        self.absent = absent
        self.old = old
        self.lost = lost
        self.open = 0

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

    def nvmlDeviceGetName(self, handle):
        # An old pynvml returns bytes.
        return f"GPU {handle}".encode() if self.old else f"GPU {handle}"

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(total=1000, used=400 + handle, free=600 - handle)

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        return [SimpleNamespace(pid=10 + handle, usedGpuMemory=100), SimpleNamespace(pid=30, usedGpuMemory=None)]

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle):
        if self.old:
            raise self.NVMLError
        return [SimpleNamespace(pid=99, usedGpuMemory=5)]

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        if self.old:
            raise self.NVMLError
        return 1500 * (handle + 1)
