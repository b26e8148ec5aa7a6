"""Runs inside a PyTorch environment: graph breaks, batches of two processes, the logic of a GPU that is not there."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import imagined_pairs
import numpy as np
import torch

from bench.cell import MIXED
from bench.frameworks.torch import functional, lazy, parallel
from bench.frameworks.torch import settings as settings
from bench.frameworks.torch.adapter import Adapter
from bench.frameworks.torch.compiler import Compiler
from bench.frameworks.torch.layouts import convolution_layout
from bench.frameworks.torch.training import mix, module_training
from bench.program import Transform, Unsupported
from bench.workloads.lenet_train.torch import max_pool, max_pool_by_quarters, max_pool_by_slices

#: {name: compute capability, and the version of HIP of a GPU of another maker}
GPUS = {"new": ((8, 0), None), "old": ((7, 5), None), "other": ((9, 4), "6.2")}


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
        "gpu": gpu(mode),
        "tf32": tf32(mode),
        "narrow": narrow(mode),
        "autocast": autocast(),
        "allocators": allocators(),
    }
    if mode == "compile":
        found.update(breaks=breaks(), overhead=overhead(), autotuned=autotuned())
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


def breaks():
    """Compile a function that Dynamo must cut in two, once more than its graphs; return its result and the report."""
    adapter = Adapter("compile", "cpu", "float32", 2)
    before = adapter.compilation()

    def cut(values):
        doubled = values * 2
        torch._dynamo.graph_break()
        return doubled + 1

    result = adapter.transform(cut)(torch.ones(3))
    return {"before": before, "after": adapter.compilation(), "result": result.tolist()}


def gpu(mode):
    """Give the adapter a GPU of 8 GiB that exists for a moment only; return what it asked of PyTorch."""
    asked, forgotten = [], []
    properties = mock.Mock(total_memory=8 << 30)
    with (
        mock.patch.multiple(
            torch.cuda,
            is_available=lambda: True,
            get_device_properties=lambda device: properties,
            set_per_process_memory_fraction=lambda fraction, device: asked.append([fraction, str(device)]),
            max_memory_allocated=lambda device: 3,
            max_memory_reserved=lambda device: 4,
            reset_peak_memory_stats=lambda device: forgotten.append(str(device)),
        ),
        mock.patch.object(settings, "cuda_allocator", return_value="caching"),
    ):
        adapter = Adapter(mode, "gpu", "float32", 2)
        adapter.limit_memory(2 << 30)
        adapter.limit_memory(16 << 30)
        default = adapter.settings()
        torch.backends.cuda.matmul.allow_tf32 = True
        loose = adapter.settings()
        torch.backends.cuda.matmul.allow_tf32 = False
        adapter.forget_peak()
        Adapter(mode, "cpu", "float32", 2).forget_peak()
        return {
            "asked": asked,
            "forgotten": forgotten,
            "memory": adapter.memory(),
            "settings": default,
            "loose": loose,
            "graphs": graphs(mode),
        }


@contextlib.contextmanager
def imagined(name):
    """Let a GPU of ``GPUS`` exist for a moment."""
    (major, minor), hip = GPUS[name]
    properties = mock.Mock(return_value=mock.Mock(major=major, minor=minor))
    with (
        mock.patch.multiple(torch.cuda, is_available=lambda: True, get_device_properties=properties),
        mock.patch.object(torch.version, "hip", hip),
        mock.patch.object(torch, "tensor", lambda array, dtype, device: torch.empty(array.shape, dtype=dtype)),
    ):
        yield


def tf32(mode):
    """Ask for TF32 on a GPU that exists for a moment only, and on a processor; return the settings and the reasons."""
    found = {}
    for name in GPUS:
        with imagined(name), mock.patch.object(settings, "cuda_allocator", return_value="caching"):
            adapter = Adapter(mode, "gpu", "tf32", 2)
            try:
                placed = adapter.put(np.ones(3))
                found[name] = {"type": str(placed.dtype), "settings": adapter.settings()}
            except Unsupported as error:
                found[name] = str(error)
            # The next cell of this process asks for float32.
            found["after"] = Adapter(mode, "gpu", "float32", 2).settings()
    try:
        Adapter(mode, "cpu", "tf32", 2)
    except Unsupported as error:
        found["processor"] = str(error)
    return found


def narrow(mode):
    """Return why bfloat16 is refused on GPUs that exist for a moment only, or None; ``mixing`` is after a fork."""
    found = {"bfloat16": {}, MIXED: {}, "mixing": {}}
    for name in GPUS:
        # An old version's context looks at the GPU, too.
        with imagined(name), mock.patch("bench.frameworks.torch.training.autocast"):
            for precision in ("bfloat16", MIXED):
                adapter = Adapter(mode, "gpu", precision, 2)
                found[precision][name] = refused(lambda adapter=adapter: adapter.put(np.ones(3)))
            found["mixing"][name] = refused(lambda: mix(torch.nn.Linear(2, 2), torch.device("cuda")))
    return found


def refused(act):
    try:
        act()
    except Unsupported as error:
        return str(error)


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


def graphs(mode):
    """Say whether the audit finds the CUDA graphs that Inductor recorded; None before Inductor."""
    if not hasattr(torch, "compile"):
        return None
    from torch._inductor import cudagraph_trees

    with mock.patch.object(cudagraph_trees, "get_manager", return_value="a manager"):
        return Compiler(mode, torch.device("cuda")).settings()["CUDA graphs"]


def overhead():
    """Return why a processor has no CUDA graphs, and the preset that a GPU gets."""
    try:
        Compiler("compile-reduce-overhead", torch.device("cpu")).apply(torch.sin, training=False, part="module")
    except Unsupported as error:
        refused = str(error)
    with mock.patch.object(torch, "compile", lambda function, **options: options):
        given = Compiler("compile-reduce-overhead", torch.device("cuda")).apply(torch.sin, False, "module")
    return [refused, given]


def autotuned():
    """Return whether the preset for tuning freezes weights: on a GPU, on a processor, and there in training."""
    from bench.frameworks.torch import compiler

    found = []
    for device, training in (("cuda", False), ("cpu", False), ("cpu", True)):
        with (
            mock.patch.object(torch, "compile", lambda function, **options: options["mode"]),
            mock.patch.object(compiler, "freeze", mock.Mock(return_value=False)) as freeze,
        ):
            mode = Compiler("compile-max-autotune", torch.device(device)).apply(torch.sin, training, "module")
        found.append([mode, freeze.called])
    return found


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


def allocators():
    """Name the allocators that PyTorch may have, by what it would answer."""

    def name(backend, snapshot):
        with (
            mock.patch.object(torch.cuda, "get_allocator_backend", return_value=backend, create=True),
            mock.patch.object(torch.cuda.memory, "_snapshot", snapshot, create=True),
        ):
            return settings.cuda_allocator()

    return [
        name("native", lambda: {"allocator_settings": {"expandable_segments": True}}),
        name("native", lambda: {"allocator_settings": {"expandable_segments": False}}),
        name("native", lambda: {"segments": []}),
        name("cudaMallocAsync", lambda: {}),
    ]
