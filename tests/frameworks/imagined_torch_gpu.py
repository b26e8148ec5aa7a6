"""What PyTorch is asked, and what is refused, in a cell of a GPU that exists for a moment only."""

from __future__ import annotations

import contextlib
from unittest import mock

import numpy as np
import torch

from bench.cell import MIXED
from bench.frameworks.torch import compiler
from bench.frameworks.torch import settings as settings
from bench.frameworks.torch.adapter import Adapter
from bench.frameworks.torch.compiler import Compiler
from bench.frameworks.torch.training import mix
from bench.program import Unsupported

#: {name: compute capability, and the version of HIP of a GPU of another maker}
GPUS = {"new": ((8, 0), None), "old": ((7, 5), None), "other": ((9, 4), "6.2")}


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

    found = []
    for device, training in (("cuda", False), ("cpu", False), ("cpu", True)):
        with (
            mock.patch.object(torch, "compile", lambda function, **options: options["mode"]),
            mock.patch.object(compiler, "freeze", mock.Mock(return_value=False)) as freeze,
        ):
            mode = Compiler("compile-max-autotune", torch.device(device)).apply(torch.sin, training, "module")
        found.append([mode, freeze.called])
    return found


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
