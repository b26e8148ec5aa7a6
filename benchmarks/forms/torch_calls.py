"""Forms of calls of what PyTorch compiled: a method or a module, wrapped in C++, without guards."""

from __future__ import annotations

import torch
from torch import nn

from bench.frameworks.torch import compiler, programs, scripting
from bench.program import Program

TORCH = "bench.frameworks.torch."


class Multiply(nn.Module):
    """The product of gemm as a module."""

    def forward(self, left, right):
        return torch.mm(left, right)


class Scripting(scripting.Scripting):
    """Returns the method of a scripted module."""

    def _finished(self, made, training):
        made = super()._finished(made, training)
        return getattr(made, "forward", made)


class Compiler(compiler.Compiler):
    """Gives torch.compile the method of a module."""

    def _compile(self, function, training):
        return super()._compile(getattr(function, "forward", function), training)


def kernel(module, transform, names, function=None):
    return programs.inference(module, transform, names)


def unguarded(step, parameters=None, reset=None, run=None, *others):
    """Make a program that verifies no guards after its first run."""

    def after_first(batches):
        outputs = run(batches)
        torch.compiler.set_stance(skip_guard_eval_unsafe=True)
        return outputs

    return Program(lambda *batch: after_first((batch,)), parameters, reset, after_first, *others)


FORMS = {
    "method": {TORCH + "adapter:Compiler": Compiler, TORCH + "scripting:Scripting": Scripting},
    # What kernels call as functions.
    "module": {TORCH + "adapter:kernel": kernel, "bench.workloads.gemm.torch:multiply": Multiply()},
    # For the modes compile and compile-step.
    "C++ wrapper": {"TORCHINDUCTOR_CPP_WRAPPER": "1"},
    "without guards": {TORCH + "programs:Program": unguarded, TORCH + "training:Program": unguarded},
}
