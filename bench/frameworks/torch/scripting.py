"""Makes TorchScript of functions and modules, by script or by trace, and reports what its executor compiled."""

from __future__ import annotations

import torch

from ...program import Unsupported

#: Modes that make TorchScript: of the code, of the operations that one call does, and with the operations merged and
#: weights put into oneDNN's layout.
SCRIPT, TRACE, OPTIMIZED = "torchscript", "torchscript-trace", "torchscript-optimized"
MODES = (SCRIPT, TRACE, OPTIMIZED)


class OneDnn(torch.nn.Conv2d):
    """A convolution without bias, by the function of oneDNN that conv2d comes to."""

    def forward(self, images):
        return torch.mkldnn_convolution(
            images, self.weight, None, self.padding, self.stride, self.dilation, self.groups
        )


def lone_convolution(mode, weight):
    """Return the layer that a mode computes best where a program is one convolution with this weight.

    TorchScript calls oneDNN with 1 to 2 of 33 µs less. And ``optimize_for_inference`` leaves it alone: conv2d it
    converts to oneDNN's own layout, with a copy of the images before and after each chain of them. One convolution
    alone took 1.3 to 3.8 times as long with it. The fuser of PyTorch 1 has a faster one for what is scripted.
    """
    applies = weight.dtype == torch.float32 and weight.device.type == "cpu" and torch.backends.mkldnn.is_available()
    fused = mode == SCRIPT and torch._C._jit_can_fuse_on_cpu()
    return OneDnn if mode in MODES and applies and not fused else torch.nn.Conv2d


class Scripting:
    """Executes as one of TorchScript's modes does, and counts."""

    def __init__(self, mode):
        self._mode = mode
        self._made = []

    def apply(self, function, training):
        if self._mode == TRACE:
            return self._traced_at_first_call(function, training)
        if self._mode == OPTIMIZED and (training or not isinstance(function, torch.nn.Module)):
            raise Unsupported("optimize_for_inference takes a module for inference: see torchscript")
        return self._finished(torch.jit.script(function), training)

    def _finished(self, made, training):
        if isinstance(made, torch.nn.Module) and not training:
            # A deployment does the same: it folds constants and removes dropout.
            made = torch.jit.freeze(made.eval())
            if self._mode == OPTIMIZED:
                made = torch.jit.optimize_for_inference(made)
        self._made.append(made)
        return made

    def _traced_at_first_call(self, function, training):
        made = []

        def call(*batch):
            if not made:
                # Its own check would do further steps, which change running statistics; ours compares with float64.
                traced = torch.jit.trace(function, batch, check_trace=False)
                made.append(self._finished(traced, training))
            return made[0](*batch)

        return call

    def report(self):
        """Say what was done: an optimised plan is made after the profiling runs, with its own backward where it can.

        TorchScript does not tell when it specialises fused kernels to another shape.
        """
        plans = []
        for function in self._made:
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
