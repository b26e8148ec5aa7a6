"""Transforms functions and modules as PyTorch's modes do, and counts what was compiled."""

from __future__ import annotations

import sys

import torch

from ...program import Unsupported

#: Reasons of graph breaks that are kept, and the characters of each.
MOST_REASONS = 5
REASON_LENGTH = 160
#: {mode: what torch.compile calls its preset}
PRESETS = {
    "compile": None,
    "compile-step": None,
    "compile-max-autotune": "max-autotune",
    "compile-reduce-overhead": "reduce-overhead",
}


class Compiler:
    """Executes as one mode does, and counts."""

    def __init__(self, mode, device):
        self._mode = mode
        self._device = device
        self._scripted = []
        self._part = "forward"
        self._froze = False

    def apply(self, function, training, part):
        """Return ``function`` (an nn.Module or a function of tensors) as the mode executes it."""
        if training:
            self._part = "forward, backward and optimizer" if part == "step" else "forward and backward"
        if self._mode == "eager":
            return function
        if self._mode == "torchscript":
            return self._script(function, training)
        if self._mode in PRESETS:
            return self._compile(function, training)
        raise ValueError("unknown mode {!r}".format(self._mode))

    def _script(self, function, training):
        scripted = torch.jit.script(function)
        if isinstance(function, torch.nn.Module) and not training:
            # A deployment does the same: it folds constants and removes dropout.
            scripted = torch.jit.freeze(scripted.eval())
        self._scripted.append(scripted)
        # The call of a module would go through nn.Module in Python first: 2 us, for hooks that no scripted module has.
        return getattr(scripted, "forward", scripted)

    def _compile(self, function, training):
        if not hasattr(torch, "compile"):
            raise Unsupported("torch {} has no torch.compile (PyTorch 2.0 brought it)".format(torch.__version__))
        preset = PRESETS[self._mode]
        if preset == "reduce-overhead" and self._device.type != "cuda":
            raise Unsupported("mode compile-reduce-overhead records CUDA graphs, which need a GPU; use compile")
        if preset == "max-autotune" and not training:
            # Weights become constants, which the templates for products on a processor require. Dynamo reads this
            # setting of the whole process, not that of one call; a process has one cell.
            from torch._inductor import config

            config.freezing = self._froze = hasattr(config, "freezing")
        # Graph breaks are allowed and counted; fullgraph=True would turn a slow cell into a failed one.
        return torch.compile(function, dynamic=False, mode=preset)

    def report(self):
        if self._mode == "torchscript":
            return report_plans(self._scripted)
        if self._mode in PRESETS and hasattr(torch, "compile"):
            from torch._dynamo.utils import counters

            return report_counters(counters, self._part)
        return {"compiled": "nothing", "compilations": 0}

    def settings(self):
        """Read back what only a preset of torch.compile brings."""
        found = {}
        if self._device.type == "cuda":
            found["CUDA graphs"] = self._mode in PRESETS and records_graphs(self._device)
        if self._froze:
            from torch._inductor import config

            found["frozen weights"] = bool(config.freezing)
        return found


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


def report_counters(counters, part):
    """Report what torch.compile did, by Dynamo's and Inductor's counters since the process started.

    ``part`` is the part of a step that was given to it.
    """

    def count(group, *names):
        return sum(int(counters[group][name]) for name in names) if group in counters else 0

    breaks = dict(counters["graph_break"]) if "graph_break" in counters else {}
    graphs, traces = count("stats", "unique_graphs"), count("frames", "total")
    # Every compiled graph is looked up in the cache of generated code, backward graphs, too, which are not traced.
    lowered = count("inductor", "fxgraph_cache_hit", "fxgraph_cache_miss", "fxgraph_cache_bypass")
    return {
        "compiled": part if graphs else "nothing",
        "graphs": graphs,
        "graph_breaks": sum(breaks.values()),
        "graph_break_reasons": [shorten(text) for text in list(breaks)[:MOST_REASONS]],
        "traces": traces,
        "compilations": traces + lowered,
    }


def shorten(explanation):
    """Keep the line that says what broke the graph."""
    lines = [line.strip() for line in str(explanation).splitlines() if line.strip()]
    return lines[0][:REASON_LENGTH] if lines else "no reason was given"


def report_plans(scripted):
    """Say what TorchScript did: an optimised plan is made after the profiling runs, with its own backward where it can.

    It does not tell when it specialises fused kernels to another shape.
    """
    plans = []
    for function in scripted:
        try:
            plans += list(function.get_debug_state().execution_plans.values())
        except RuntimeError:
            continue  # It still profiles.
    differentiated = any("prim::DifferentiableGraph" in str(plan.graph) for plan in plans)
    return {
        "compiled": ("forward and backward" if differentiated else "forward") if plans else "nothing",
        "graphs": len(plans),
        # Scripting raises an error for code that it cannot compile.
        "graph_breaks": 0,
        "graph_break_reasons": [],
        "compilations": len(plans),
    }
