"""Runs inside a PyTorch environment: batches of two processes, layouts, and what an imagined GPU asks."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import imagined_pairs
import imagined_torch_gpu
import numpy as np
import torch

from bench.frameworks.torch import functional, lazy, parallel
from bench.frameworks.torch import settings as settings
from bench.frameworks.torch.adapter import Adapter
from bench.frameworks.torch.layouts import convolution_layout
from bench.frameworks.torch.training import mix, module_training
from bench.program import Transform, Unsupported
from bench.workloads.lenet_train.torch import max_pool, max_pool_by_quarters, max_pool_by_slices


def examine(mode):
    if mode == parallel.MODE:
        gpus = {"refusals": imagined_pairs.refusals(), "one process": imagined_pairs.one_process()}
        gpus["failing"] = imagined_pairs.failing()
        if hasattr(torch, "compile"):
            gpus["two processes"] = imagined_pairs.two_processes()
        return dict(divided(), gpus=gpus, normalisations=normalisations())
    if mode in lazy.MODES:
        return {}
    found = {
        "poolings": poolings(),
        "mixed copy": mixed_copy(),
        "layouts": layouts(),
        "gpu": imagined_torch_gpu.gpu(mode),
        "tf32": imagined_torch_gpu.tf32(mode),
        "narrow": imagined_torch_gpu.narrow(mode),
        "autocast": autocast(),
        "allocators": imagined_torch_gpu.allocators(),
    }
    if mode == "compile":
        found.update(overhead=imagined_torch_gpu.overhead(), autotuned=imagined_torch_gpu.autotuned())
    if mode == "functorch":
        found["missing"] = missing()
    if mode == "compile-step":
        found["statistics"] = statistics()
        found["recurrent"] = recurrent()
    return found


def poolings():
    """Return whether each form of pooling gives what max_pool2d gives, of images with an odd side, too."""
    images = torch.rand(2, 3, 5, 8)
    forms = (max_pool_by_slices, max_pool_by_quarters)
    return {form.__name__: torch.equal(form(images), max_pool(images)) for form in forms}


def mixed_copy():
    """Tell in which type a copy of a mixing module computes, and whose parameters, as on a second GPU."""
    module = torch.nn.Linear(2, 2, bias=False)
    mix(module, torch.device("cpu"))
    copy = module._replicate_for_data_parallel()
    copy.weight, copy.bias = torch.zeros(2, 2), None
    given = copy(torch.ones(1, 2))
    return {"type": str(given.dtype), "sum": float(given.sum()), "parameters": str(module.weight.dtype)}


class Added(torch.nn.Module):
    """A loss whose gradient is the sum of a process's numbers, which both processes note."""

    def __init__(self, seen):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen = seen

    def forward(self, numbers):
        with open(f"{self.seen}.{torch.distributed.get_rank()}", "a") as file:
            file.write(json.dumps(numbers.tolist()) + "\n")
        return self.weight * numbers.float().sum()


def divided():
    """Train on eight numbers, which then change in place; return what each process saw, and more that it told."""
    adapter = Adapter("ddp", "cpu", "float32", 2)
    numbers, odd = (adapter.put(np.arange(count)) for count in (8, 9))
    late = torch.arange(8)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        seen = os.path.join(folder, "seen")
        module = Added(seen)
        settings = {"name": "sgd", "learning_rate": 1.0}
        program = module_training(
            module, Transform("ddp", adapter.transform), settings, lambda: {"weight": module.weight}
        )
        program.step(numbers)
        found["weights"] = [module.weight.item()]
        numbers.copy_(numbers.flip(0))
        program.reset()
        program.step(numbers)
        found["weights"].append(module.weight.item())
        files = [Path(f"{seen}.{rank}").read_text().splitlines() for rank in (0, 1)]
        found["halves"], found["changed"] = ([json.loads(lines[step]) for lines in files] for step in (0, 1))
        for name, batch in (("odd", odd), ("late", late)):
            try:
                program.step(batch)
            except (Unsupported, ValueError) as error:
                found[name] = str(error)
        (process,) = program.processes
        program.close()
        found["ended"] = not os.path.exists(f"/proc/{process}")
    return found


def normalisations():
    """Return what normalises on two GPUs, in a network that keeps its parameters, and why nothing does on a CPU."""
    network = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4))
    scale = network[1].weight
    on_gpus = parallel.with_statistics_of_all(network, "cuda")
    found = {"kind": type(on_gpus[1]).__name__, "scale": on_gpus[1].weight is scale}
    alone = torch.nn.Linear(1, 1)
    found["without"] = parallel.with_statistics_of_all(alone, "cpu") is alone
    try:
        parallel.with_statistics_of_all(network, "cpu")
    except Unsupported as error:
        found["cpu"] = str(error)
    return found


def layouts():
    network = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Conv2d(4, 4, 3))
    default = convolution_layout(network)
    last = convolution_layout(network.to(memory_format=torch.channels_last))
    return [default.get("layout"), last.get("layout"), convolution_layout(torch.nn.Linear(2, 2))]


def autocast():
    """Read back a context that casts to bfloat16, one to float16, and one that PyTorch has turned off."""
    on, off = (torch.autocast("cpu", torch.bfloat16, enabled=enabled) for enabled in (True, False))
    half = mock.MagicMock(device="cpu")
    with mock.patch.multiple(torch, create=True, **narrow_type(torch.float16)):
        short = settings.in_autocast(half)
    return {"on": settings.in_autocast(on), "float16": short, "off": settings.in_autocast(off)}


def narrow_type(found):
    """Return what a context that casts to this type would answer, in new and old versions."""
    if hasattr(torch, "get_autocast_dtype"):
        return {"is_autocast_enabled": lambda kind: True, "get_autocast_dtype": lambda kind: found}
    return {"is_autocast_cpu_enabled": lambda: True, "get_autocast_cpu_dtype": lambda: found}


def recurrent():
    """Return why torch.func does not differentiate an LSTM on a GPU."""
    try:
        with mock.patch.object(functional, "on_gpu", return_value=True):
            functional.functional_gradients(torch.nn.LSTM(2, 2))
    except Unsupported as error:
        return str(error)


def missing():
    """Return why nothing is differentiated where functorch is neither in PyTorch nor installed beside it."""
    old = mock.Mock(spec=["__version__"], __version__="1.12.0")
    try:
        with mock.patch.object(functional, "torch", old), mock.patch.dict(sys.modules, {"functorch": None}):
            functional.functions()
    except Unsupported as error:
        return str(error)


def statistics():
    """Train a module with running statistics, as one function and with torch.optim; return what both came to."""
    found = []
    for part in ("step", "module"):
        torch.manual_seed(0)
        module = Normalised()
        program = module_training(
            module,
            Transform("eager", lambda function, **options: function, part),
            {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9},
            lambda module=module: dict(module.named_parameters()),
        )
        batches = [(torch.randn(8, 3, generator=torch.Generator().manual_seed(seed)),) for seed in range(3)]
        losses = []
        for _ in range(2):
            losses.append(float(program.run(batches)["loss"]))
            state = {name: value.double().flatten().tolist() for name, value in module.state_dict().items()}
            program.reset()
        found.append({"losses": losses, "state": state})
    return found


class Normalised(torch.nn.Module):
    """A layer with running statistics; forward gives a loss."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        self.normal = torch.nn.BatchNorm1d(4)

    def forward(self, inputs):
        return (self.normal(self.linear(inputs)) - 0.5).square().mean() + self.linear.weight.square().sum()
