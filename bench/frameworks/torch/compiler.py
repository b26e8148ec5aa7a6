"""Transforms functions and modules as PyTorch's modes do, and counts what was compiled."""

from __future__ import annotations

import torch

from ...program import Unsupported

#: Reasons of graph breaks that are kept, and the characters of each.
MOST_REASONS = 5
REASON_LENGTH = 160


class Compiler:
    """Executes as one mode does, and counts."""

    def __init__(self, mode):
        self._mode = mode
        self._scripted = []
        self._training = False

    def apply(self, function, training):
        """Return ``function`` (an nn.Module or a function of tensors) as the mode executes it."""
        self._training = self._training or training
        if self._mode == "eager":
            return function
        if self._mode == "torchscript":
            scripted = torch.jit.script(function)
            if isinstance(function, torch.nn.Module) and not training:
                # A deployment does the same: it folds constants and removes dropout.
                scripted = torch.jit.freeze(scripted.eval())
            self._scripted.append(scripted)
            return scripted
        if self._mode == "compile":
            if not hasattr(torch, "compile"):
                raise Unsupported("torch {} has no torch.compile (PyTorch 2.0 brought it)".format(torch.__version__))
            # Graph breaks are allowed and counted; fullgraph=True would turn a slow cell into a failed one.
            return torch.compile(function, dynamic=False)
        raise ValueError("unknown mode {!r}".format(self._mode))

    def report(self):
        if self._mode == "torchscript":
            return report_plans(self._scripted)
        if self._mode == "compile":
            from torch._dynamo.utils import counters

            return report_counters(counters, self._training)
        return {"compiled": "nothing", "compilations": 0}

    def uses_cuda_graphs(self):
        if self._mode != "compile":
            return False
        from torch._inductor import config

        return bool(config.triton.cudagraphs)


def report_counters(counters, training):
    """Report what torch.compile did, by Dynamo's and Inductor's counters since the process started."""

    def count(group, *names):
        return sum(int(counters[group][name]) for name in names) if group in counters else 0

    breaks = dict(counters["graph_break"]) if "graph_break" in counters else {}
    graphs, traces = count("stats", "unique_graphs"), count("frames", "total")
    # Every compiled graph is looked up in the cache of generated code, backward graphs, too, which are not traced.
    lowered = count("inductor", "fxgraph_cache_hit", "fxgraph_cache_miss", "fxgraph_cache_bypass")
    part = "forward and backward" if training else "forward"
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
