"""Trains and predicts on XLA's device as the guides of PyTorch/XLA do; nothing of it runs without torch_xla.

A module moves to the device. What a step recorded runs at its end: with ``torch_xla.sync``, in the context
``torch_xla.step``, or as a function under ``torch_xla.compile``. With Dynamo in front, torch.compile gets the network
or all of the step, and the backend "openxla". Inference waits for each step, as ours does.
"""

from __future__ import annotations

import contextlib
import functools

import torch
from torch import nn

with contextlib.suppress(ImportError):
    import torch_xla
    from torch_xla.core import xla_model

#: The modes of PyTorch/XLA; Dynamo is in front of the second.
LAZY = XLA, OPENXLA = ("xla", "compile-openxla")
BACKEND = {"backend": "openxla"}
#: {name: the keywords of an optimizer}
FORMS = {"": {}, ", foreach": {"foreach": True}}


def options(mode):
    """Return the keywords with which a tensor is made where a mode computes."""
    return {"device": torch_xla.device()} if mode in LAZY else {}


def placed(function, mode):
    """Return a module on the device of a mode; a function as it is."""
    return function.to(**options(mode)) if mode in LAZY and isinstance(function, nn.Module) else function


def kept(parameters, mode):
    """Return copies on the processor: steps write over buffers of the device, which copies there share."""
    return {name: value.cpu() for name, value in parameters.items()} if mode in LAZY else parameters


def forward_only(mode):
    """Return the context of inference: tensors of inference mode cannot be recorded."""
    return torch.no_grad if mode in LAZY else torch.inference_mode


def inferring(function, mode, waits=True):
    """Return a function whose call runs what it recorded, and ``waits`` for it."""
    if mode == OPENXLA:
        compiled = torch.compile(function, **BACKEND)

        def call(*batch, **keywords):
            outputs = compiled(*batch, **keywords)
            if waits:
                # Executables of Dynamo's graphs are called, not recorded.
                xla_model.wait_device_ops()
            return outputs

        return call

    def record(*batch, **keywords):
        outputs = function(*batch, **keywords)
        torch_xla.sync(wait=waits)
        return outputs

    return record


def wait():
    """Run what is recorded, such as the joined outputs of several calls, and wait for all that runs."""
    torch_xla.sync(wait=True)
    xla_model.wait_device_ops()


def trained(network, criterion, kind, rate, mode, batch):
    """Return ``{name: step}`` of the forms in which the guides train."""
    network = placed(network, mode)
    *inputs, labels = batch
    make = functools.partial(whole, criterion, inputs, labels)
    found = {}
    for name, keywords in FORMS.items():
        optimizer = kind(network.parameters(), lr=rate, **keywords)
        if mode == OPENXLA:
            compiled = torch.compile(network, **BACKEND)
            found["network compiled" + name] = ended_by_sync(make(compiled, optimizer))
            found["step compiled" + name] = ended_by_sync(torch.compile(make(network, optimizer), **BACKEND))
        else:
            step = make(network, optimizer)
            found["torch_xla.sync" + name] = ended_by_sync(step)
            found["torch_xla.step" + name] = in_context(step)
            found["torch_xla.compile" + name] = torch_xla.compile(step)
    return {name: functools.partial(given, step) for name, step in found.items()}


def whole(criterion, inputs, labels, forward, optimizer):
    """Return a step of training that only records."""

    def step():
        optimizer.zero_grad()
        loss = criterion(forward(*inputs).flatten(0, -2), labels.flatten())
        loss.backward()
        optimizer.step()
        return loss

    return step


def ended_by_sync(step):
    def ended():
        outputs = step()
        torch_xla.sync()
        return outputs

    return ended


def in_context(step):
    def stepped():
        with torch_xla.step():
            return step()

    return stepped


def given(step, *batch):
    """Do a step that has its batch already."""
    return {"loss": step()}
