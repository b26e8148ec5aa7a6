"""Executes public networks and functions as the documentation of each of PyTorch's modes does.

Where a mode has no public implementation of its own, the public network under the same transformation is the rival.
"""

from __future__ import annotations

import atexit
import functools
import os
import tempfile

import lazy_torch
import torch
from torch import nn

#: {mode: the keywords with which it calls torch.compile}
COMPILED = {
    "compile": {},
    "compile-step": {},
    "compile-max-autotune": {"mode": "max-autotune"},
    "compile-reduce-overhead": {"mode": "reduce-overhead"},
}
SCRIPTED = ("torchscript", "torchscript-trace", "torchscript-optimized")
#: {mode: the ``foreach`` of its optimizer}
FOREACH = {"optimizer-loop": False, "optimizer-foreach": True}
#: Modes whose network runs op by op: they differ in the optimizer, in the layout or in what differentiates.
OP_BY_OP = ("eager", "functorch", "compile-optimizer", "channels-last", "channels-first", *FOREACH)
#: {mode: the memory formats that it compares}; the others compare both.
FORMATS = {
    "channels-last": ("channels_last",),
    "channels-first": ("plain",),
    # XLA chooses layouts itself.
    **dict.fromkeys(lazy_torch.LAZY, ("plain",)),
}


def trainable(network, mode, example):
    """Return a network that is trained, as a mode executes it; ``example`` are inputs to trace."""
    if mode == "torchscript":
        return torch.jit.script(network)
    if mode == "torchscript-trace":
        return torch.jit.trace(network, example, check_trace=False)
    return torch.compile(network, **COMPILED[mode]) if mode in COMPILED else network


def inferring(network, mode, example):
    """Return a network or function for inference, as a mode executes it; ``example`` are arguments like the batch."""
    if isinstance(network, nn.Module):
        network.eval()
    if mode in SCRIPTED:
        return scripted(network, mode, example)
    if mode in lazy_torch.LAZY:
        return lazy_torch.inferring(lazy_torch.placed(network, mode), mode)
    if mode == "autocast":
        return torch.autocast("cpu", torch.bfloat16)(network)
    if mode == "aot-inductor":
        return ahead(network, example)
    if mode in COMPILED:
        return torch.compile(network, **COMPILED[mode])
    if mode not in OP_BY_OP:
        raise ValueError(f"unknown mode {mode!r}")
    return network


def scripted(network, mode, example):
    """Script a module or trace a function, which may not script, and freeze, as PyTorch's guide to deployment does."""
    if isinstance(network, nn.Module) and mode != "torchscript-trace":
        made = torch.jit.script(network)
    else:
        # Only modules can be optimised; a function is called faster than a module.
        optimised = mode == "torchscript-optimized" and not isinstance(network, nn.Module)
        with torch.no_grad():
            made = torch.jit.trace(Called(network).eval() if optimised else network, example, check_trace=False)
    if isinstance(made, nn.Module):
        made = torch.jit.freeze(made)
    return torch.jit.optimize_for_inference(made) if mode == "torchscript-optimized" else made


@functools.cache
def folder():
    made = tempfile.TemporaryDirectory(prefix="public-aot-")
    atexit.register(made.cleanup)
    return made.name


def ahead(network, example):
    """Export, compile and load, as the tutorial of AOTInductor does."""
    module = network if isinstance(network, nn.Module) else Called(network)
    path = os.path.join(folder(), f"{len(os.listdir(folder()))}.pt2")
    with torch.no_grad():
        exported = torch.export.export(module, tuple(value.clone() for value in example))
        torch._inductor.aoti_compile_and_package(exported, package_path=path)
        return torch._inductor.aoti_load_package(path)


class Called(nn.Module):
    """A function as a module, as an export needs it."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *batch):
        return self._function(*batch)


def fastest(kind, parameters, mode="eager", **options):
    """Make an optimizer of torch.optim: fused where this version can, or in the form that the mode names.

    ``parameters`` gives the parameters. What is compiled has the form of ``options``.
    """
    parameters = list(parameters())
    if mode in FOREACH:
        return kind(parameters, foreach=FOREACH[mode], **options)
    if mode == "compile-optimizer":
        return kind(parameters, **options)
    try:
        return kind(parameters, fused=True, **options)
    except (TypeError, RuntimeError):
        return kind(parameters, **options)


def functional(network, criterion):
    """Return ``differentiate(*batch)`` of the documentation of functorch, which leaves gradients in the parameters."""
    trained, buffers = dict(network.named_parameters()), dict(network.named_buffers())
    library, call = transformations()

    def loss(values, kept, inputs, labels):
        kept = {name: value.clone() for name, value in kept.items()}
        found = call(network, {**values, **kept}, (inputs,))
        return criterion(found.flatten(0, -2), labels.flatten()), kept

    gradients = library.grad_and_value(loss, has_aux=True)

    def differentiate(inputs, labels):
        values = {name: value.detach() for name, value in trained.items()}
        found, (value, kept) = gradients(values, buffers, inputs, labels)
        for name, parameter in trained.items():
            parameter.grad = found[name]
        for name, buffer in buffers.items():
            buffer.copy_(kept[name])
        return value

    return differentiate


def transformations():
    """Return the module with vmap and grad, and functional_call, of this version."""
    if hasattr(torch, "func"):
        return torch.func, torch.func.functional_call
    import functorch
    from torch.nn.utils.stateless import functional_call

    return functorch, functional_call
