"""Transforms functions and modules as PyTorch's modes do, and counts what was compiled."""

from __future__ import annotations

import os
import sys

import torch

from ...program import Unsupported
from .. import halves
from . import layouts, lazy, parallel, scripting, settings
from .ahead import Ahead
from .frozen import freeze
from .shapes import fixed_shapes

#: Reasons of graph breaks that are kept, and the characters of each.
MOST_REASONS = 5
REASON_LENGTH = 160
#: {mode: what torch.compile calls its preset}
PRESETS = {
    "compile": None,
    "compile-step": None,
    "compile-optimizer": None,
    "compile-max-autotune": "max-autotune",
    "compile-reduce-overhead": "reduce-overhead",
}

#: How the names of modes begin that have one graph without branches and loops; one of PyTorch/XLA is among them.
COMPILERS = ("compile", "aot-inductor")
#: {the part of a training program that a mode transforms: what of a step it then compiles}
TRAINED = {"module": "forward and backward", "step": "forward, backward and optimizer", "optimizer": "optimizer"}
#: Modes that differ from eager in what the program asks of them: see ``training``, and ``autocast``.
FUNCTORCH, AUTOCAST = "functorch", "autocast"
#: What the settings say where Inductor found none. On most processors something around it is wrong then.
NO_VECTORS = "no vector instructions"
#: {mode that is eager with one form of torch.optim: the ``foreach`` that the optimizer is given}
FOREACH = {"optimizer-loop": False, "optimizer-foreach": True}


class Compiler:
    """Executes as one mode does, and counts."""

    def __init__(self, mode, device):
        self._mode = mode
        self._device = device
        self._other = None
        if mode in scripting.MODES:
            self._other = scripting.Scripting(mode)
        elif mode == "aot-inductor":
            self._other = Ahead()
        self._lazy = lazy.Lazy(mode) if mode in lazy.MODES else None
        self._divided = None
        self._part = "forward"
        self._froze = False
        self._context = None

    def apply(self, function, training, part):
        """Return ``function`` (an nn.Module or a function of tensors) as the mode executes it."""
        if self._lazy is not None:
            return self._lazy.apply(function, training, part)
        if training:
            self._part = TRAINED[part]
        if self._other is not None:
            return self._other.apply(function, training)
        if self._mode in parallel.MODES:
            halves.verify_program(self._mode, training=training)
        if self._mode == parallel.ONE_PROCESS:
            self._divided, loss = parallel.among_gpus(function)
            return loss
        if self._mode in ("eager", parallel.MODE):
            return function
        if self._mode in layouts.FORMATS:
            return layouts.converted(function, self._mode)
        if self._mode == AUTOCAST:
            if training:
                raise Unsupported(
                    "mode autocast is for inference; training in bfloat16 is precision mixed-bfloat16: use eager there"
                )
            self._context = autocast(self._device)
            # As a decorator, whose context is made once: 2 of 53 µs of a small kernel.
            return self._context(function)
        if self._mode in (FUNCTORCH, "compile-optimizer", *FOREACH) and not training:
            raise Unsupported("mode {} differs from eager in training only".format(self._mode))
        if self._mode in (FUNCTORCH, *FOREACH) or (self._mode == "compile-optimizer" and part != "optimizer"):
            return function
        if self._mode in PRESETS:
            return self._compile(function, training)
        raise ValueError("unknown mode {!r}".format(self._mode))

    def _compile(self, function, training):
        if not hasattr(torch, "compile"):
            raise Unsupported("torch {} has no torch.compile (PyTorch 2.0 brought it)".format(torch.__version__))
        preset = PRESETS[self._mode]
        if preset == "reduce-overhead" and self._device.type != "cuda":
            raise Unsupported("mode compile-reduce-overhead records CUDA graphs, which need a GPU; use compile")
        # On a GPU its templates take any weights; frozen ones would fold normalisations, for which nobody has asked.
        if preset == "max-autotune" and not training and self._device.type == "cpu":
            self._froze = freeze(function)
        compile_threads()
        # Graph breaks are allowed and counted; fullgraph=True would turn a slow cell into a failed one.
        return torch.compile(function, mode=preset, **fixed_shapes())

    def report(self):
        if self._other is not None:
            return self._other.report()
        if self._lazy is not None:
            found = self._lazy.report()
            return dict(found, **count_breaks(dynamo_counters())) if self._mode == lazy.OPENXLA else found
        if self._mode in PRESETS and hasattr(torch, "compile"):
            return report_counters(dynamo_counters(), self._part)
        return {"compiled": "nothing", "compilations": 0}

    def settings(self):
        """Read back what only a mode brings."""
        found = settings.in_autocast(self._context) if self._context is not None else {}
        if self._device.type == "cuda":
            found["CUDA graphs"] = self._mode in PRESETS and records_graphs(self._device)
        elif self._mode in PRESETS or self._mode == "aot-inductor":
            found.update(generated_for())
        if self._divided is not None:
            found["devices"] = len(self._divided.device_ids)
        if self._froze:
            from torch._inductor import config

            found["frozen weights"] = bool(config.freezing)
        return found


def is_first_compiler(mode):
    """Tell whether a mode compiles with PyTorch 2.0, whose compiler fails for some of what later ones compile."""
    return mode in PRESETS and hasattr(torch, "compile") and not hasattr(torch, "compiler")


def compile_threads():
    """Let Inductor compile on as many threads as it was told; the process that forked this one may have more."""
    told = os.environ.get("TORCHINDUCTOR_COMPILE_THREADS")
    if told and "torch._inductor.config" in sys.modules:
        from torch._inductor import config

        config.compile_threads = int(told)


def autocast(device):
    """Return the context in which products and convolutions are in bfloat16, as PyTorch's mixed precision has it."""
    return torch.autocast(device.type, torch.bfloat16)


def generated_for():
    """Read back the vector instructions that Inductor generates code with, which it tries with programs of its own."""
    try:
        from torch._inductor.codecache import pick_vec_isa
    except ImportError:
        return {}
    found = str(pick_vec_isa())
    return {"generated for": NO_VECTORS if found == "INVALID_VEC_ISA" else found}


def records_graphs(device):
    """Tell whether Inductor has recorded a CUDA graph on this device."""
    try:
        from torch._inductor.cudagraph_trees import get_manager
    except ImportError:
        return False  # Before 2.1 no tree of graphs was the default.
    return get_manager(device.index or 0, create_if_none_exists=False) is not None


def end_pools():
    """End the threads and processes in which Inductor compiled; it starts new ones where it compiles again."""
    if "torch._inductor.async_compile" not in sys.modules:
        return
    from torch._inductor import async_compile

    async_compile.shutdown_compile_workers()
    pool = async_compile.AsyncCompile.pool
    if pool.cache_info().currsize:
        pool().shutdown()
        pool.cache_clear()


def dynamo_counters():
    from torch._dynamo.utils import counters

    return counters


def count_breaks(counters):
    """Report the graph breaks that Dynamo counted, and why the first of them were."""
    breaks = dict(counters["graph_break"]) if "graph_break" in counters else {}
    return {
        "graph_breaks": sum(breaks.values()),
        "graph_break_reasons": [shorten(text) for text in list(breaks)[:MOST_REASONS]],
    }


def report_counters(counters, part):
    """Report what torch.compile did, by Dynamo's and Inductor's counters since the process started.

    ``part`` is the part of a step that was given to it.
    """

    def count(group, *names):
        return sum(int(counters[group][name]) for name in names) if group in counters else 0

    graphs, traces = count("stats", "unique_graphs"), count("frames", "total")
    # Every compiled graph is looked up in the cache of generated code, backward graphs, too, which are not traced.
    lowered = count("inductor", "fxgraph_cache_hit", "fxgraph_cache_miss", "fxgraph_cache_bypass")
    return {
        "compiled": part if graphs else "nothing",
        "graphs": graphs,
        "traces": traces,
        "compilations": traces + lowered,
        **count_breaks(counters),
    }


def shorten(explanation):
    """Keep the line that says what broke the graph."""
    lines = [line.strip() for line in str(explanation).splitlines() if line.strip()]
    return lines[0][:REASON_LENGTH] if lines else "no reason was given"
