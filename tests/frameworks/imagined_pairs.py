"""Runs inside a PyTorch environment: divides steps between two GPUs that are not there, which processors play."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from bench.frameworks.torch import pair, parallel
from bench.frameworks.torch.adapter import Adapter
from bench.frameworks.torch.compiler import Compiler
from bench.frameworks.torch.training import module_training
from bench.program import Transform, Unsupported

CPU = torch.device("cpu")
SETTINGS = {"name": "sgd", "learning_rate": 1.0}


@contextlib.contextmanager
def gpus(count):
    """Let PyTorch see so many GPUs; what starts CUDA's driver, before which a process is forked, fails."""
    with (
        mock.patch.multiple(torch.cuda, is_available=lambda: True, device_count=lambda: count),
        mock.patch.object(torch.__config__, "show", side_effect=RuntimeError("it looks for GPUs")),
    ):
        yield


def refused(act):
    """Return why ``act()`` is refused."""
    try:
        act()
    except (Unsupported, ValueError) as error:
        return f"{type(error).__name__}: {error}"


class Copies(pair.Parts):
    """Halves that are copies, as they are on GPUs."""

    def of(self, keys, anew):
        if anew:
            self._known[keys] = tuple(each.clone() for each in super().of(keys, anew))
        return self._known[keys]


class Added(torch.nn.Module):
    """A loss whose gradient is the sum of a process's numbers; each process notes them, and what it asked CUDA for."""

    def __init__(self, folder):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.folder = Path(folder)
        self.asked = []

    def forward(self, numbers):
        with (self.folder / str(torch.distributed.get_rank())).open("a") as file:
            file.write(json.dumps([numbers.tolist(), self.asked]) + "\n")
        return self.weight * numbers.float().sum()


def two_processes():
    """Train on eight numbers, which then change in place; return the weights, what each process saw, and refusals."""
    with tempfile.TemporaryDirectory() as folder:
        module = Added(folder)

        def divided(own, device_ids, **options):
            module.asked.append(["device_ids", device_ids])
            return torch.nn.parallel.DistributedDataParallel(own, **options)

        #: What the process needed at most; the second process has its own.
        peak = [30]
        with (
            gpus(2),
            mock.patch.multiple(
                torch.cuda,
                set_device=lambda device: module.asked.append(["set_device", str(device)]),
                synchronize=lambda device: module.asked.append(["synchronize", str(device)]),
                max_memory_allocated=lambda device: peak[0],
                reset_peak_memory_stats=lambda device: peak.__setitem__(0, 3),
                max_memory_reserved=lambda device: 4,
            ),
            mock.patch.object(pair.Shared, "device", return_value=CPU),
            mock.patch.dict(pair.BACKENDS, cuda="gloo"),
            mock.patch.multiple(pair, Parts=Copies, DistributedDataParallel=divided),
        ):
            adapter = Adapter("ddp", "gpu", "float32", 2)
            adapter.versions()
            numbers = adapter.put(np.arange(8))
            program = module_training(
                module, Transform("ddp", adapter.transform), SETTINGS, lambda: {"weight": module.weight}
            )
            weights = []
            for _ in range(3):
                program.step(numbers)
                weights.append(module.weight.item())
            numbers.copy_(numbers.flip(0) + 8)
            program.reset()
            program.step(numbers)
            weights.append(module.weight.item())
            adapter.forget_peak()
            memory = adapter.memory()
            late = refused(lambda: program.step(adapter.put(np.arange(8))))
            program.close()
        seen = [[json.loads(line) for line in (Path(folder) / name).read_text().splitlines()] for name in "01"]
    return {
        "weights": weights,
        "memory": memory,
        "late": late,
        "first": [lines[0][0] for lines in seen],
        "changed": [lines[3][0] for lines in seen],
        "asked": [lines[3][1] for lines in seen],
        "monitoring": os.environ.get("TORCH_NCCL_ENABLE_MONITORING"),
    }


def refusals():
    """Return why steps are not divided between GPUs, by what is the matter."""
    with gpus(1):
        found = {mode: refused(lambda mode=mode: Adapter(mode, "gpu", "float32", 2)) for mode in parallel.MODES}
    with gpus(2):
        found["tf32"] = refused(lambda: Adapter("ddp", "gpu", "tf32", 2))
        found["threads"] = refused(lambda: Adapter("ddp", "gpu", "float32", 3))
        found["limit"] = refused(lambda: Adapter("ddp", "gpu", "float32", 2).limit_memory(1))
        with mock.patch.object(pair, "torch", mock.Mock(spec=["__version__"], __version__="1.13.1")):
            found["old"] = refused(lambda: pair.Shared().ask("gpu", 2))
    found["processor"] = refused(lambda: Adapter("data-parallel", "cpu", "float32", 2))
    return found


class Scattered:
    """What DataParallel does, without GPUs: the losses of both halves of a batch."""

    def __init__(self, module, device_ids):
        self.module, self.device_ids = module, device_ids

    def __call__(self, *batch):
        (numbers,) = batch
        return torch.stack([self.module(half) for half in numbers.chunk(len(self.device_ids))])


class Squared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, numbers):
        return (self.weight * numbers - 1.0).square().mean()


def failing():
    """Let the second process fail before both are connected; return what the first says, and when."""
    first = os.getpid()

    def make():
        if os.getpid() != first:
            raise MemoryError("the second GPU is full")
        return None, None

    pair.SHARED.ask("cpu", 2)
    began = time.monotonic()
    try:
        pair.Pair(torch.nn.Linear(1, 1), make)
    except RuntimeError as error:
        return [str(error), time.monotonic() - began]


def one_process():
    """Train with DataParallel and without; return both weights, the devices, and what is refused."""
    weights = []
    for mode, compiler in (("eager", Compiler("eager", CPU)), ("data-parallel", Compiler("data-parallel", CPU))):
        module = Squared()

        def transform(function, training=False, settings=None, part="module", compiler=compiler):
            return compiler.apply(function, training, part)

        with mock.patch.object(parallel, "DataParallel", Scattered):
            program = module_training(module, Transform(mode, transform), SETTINGS, lambda: {})
        program.step(torch.arange(4.0) / 8.0)
        weights.append(module.weight.item())
    normalised = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    return {
        "weights": weights,
        "devices": compiler.settings()["devices"],
        "odd": refused(lambda: program.step(torch.arange(3.0))),
        "inference": refused(lambda: Compiler("data-parallel", CPU).apply(torch.nn.Linear(1, 1), False, "module")),
        "statistics": refused(lambda: Compiler("data-parallel", CPU).apply(normalised, True, "module")),
        "function": refused(lambda: Compiler("data-parallel", CPU).apply(torch.sin, True, "module")),
    }
