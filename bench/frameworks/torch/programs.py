"""Makes the programs that PyTorch's users write for inference with a module or function."""

from __future__ import annotations

import torch

from ...program import Program
from . import lazy
from .compiler import is_first_compiler
from .layouts import FORMATS, module_settings

#: Modes that call a function as well as a module.
CALLED = ("eager", "autocast", "compile", "compile-reduce-overhead", "compile-max-autotune", *lazy.MODES)


def kernel(module, transform, names, function=None):
    """Make the program of a module that stands for one function of PyTorch, in whose time a module's call would show.

    Its users write a function. Op by op and with torch.compile, ``function`` is called, or the module's forward as
    such: a call through nn.Module took 2 of the 16 µs of a small kernel, and looking up layers and parameters 1 to 3.
    TorchScript and torch.export take modules only, which are called as their users call them.
    """
    if transform.mode in FORMATS:
        return inference(module, transform, names, called=function or module.forward)
    called = (function or module.forward) if transform.mode in CALLED else module
    return inference(called, transform, names, described=module)


def inference(module, transform, names, described=None, called=None):
    """Make the program of an nn.Module or function that maps a batch to one tensor or a tuple, named ``names``.

    ``described`` is the module whose settings a function has. ``called`` computes the same as the transformed module,
    and replaces it after the first call.
    """
    described = described or module
    if isinstance(described, torch.nn.Module):
        # torch.compile guards parameters that need gradients: 12 of 43 µs of a small kernel.
        described.eval().requires_grad_(False)

    def in_force():
        waits = {"synchronised": "every step"} if transform.mode in lazy.MODES else {}
        return dict(module_settings(described), **waits)

    transformed = transform(module, training=False, settings=in_force)
    if called is not None:
        transformed = after_first(transformed, called)
    without_gradients = forward_only(transform.mode)

    def run(batches):
        with without_gradients():
            for batch in batches:
                outputs = transformed(*batch)
        return dict(zip(names, outputs if isinstance(outputs, (tuple, list)) else (outputs,)))

    return Program(lambda *batch: run((batch,)), run=run)


def after_first(module, function):
    """Return a function that calls ``module`` once, whose hook notes its layout, and then ``function``."""
    left = [module]

    def call(*batch):
        return left.pop()(*batch) if left else function(*batch)

    return call


def forward_only(mode):
    """Return the context in which a mode computes without gradients: inference mode where it can."""
    # Its tensors have no place for what a lazy one counts, and PyTorch 2.0 cannot compile a view of an argument in it.
    return torch.no_grad if mode in lazy.MODES or is_first_compiler(mode) else torch.inference_mode
