"""Makes the optimizers of torch.optim in the forms that the modes have, and tells which form is in force."""

from __future__ import annotations

import contextlib

import torch

from . import lazy
from .compiler import FOREACH

#: The mode that compiles nothing but the optimizer.
COMPILED = "compile-optimizer"
#: Up to so many tensors, Adam's default, a loop, is compiled, as its users have it: one operation for all took as long
#: or 1.1 times as long. For hundreds, the loop takes minutes to compile.
FEW = 64


def make_optimizer(parameters, settings, mode="eager"):
    """Make the torch.optim optimizer that a specification's ``OPTIMIZER`` names, fused where this version can.

    Compiled, it is the form that has an operation for all parameters, but for Adam's few a loop: Inductor fuses either.
    A mode of ``FOREACH`` says which of the forms that are not fused it is.
    """
    if settings["name"] == "sgd":
        kind, options = torch.optim.SGD, {"momentum": settings.get("momentum", 0.0)}
    elif settings["name"] in ("adam", "adamw"):
        kind, options = torch.optim.Adam, {"betas": (settings["beta1"], settings["beta2"]), "eps": settings["epsilon"]}
        if settings["name"] == "adamw":
            kind, options["weight_decay"] = torch.optim.AdamW, settings["weight_decay"]
    else:
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    parameters = list(parameters)
    if mode == COMPILED or mode in FOREACH:
        looped = kind is not torch.optim.SGD and len(parameters) <= FEW
        foreach = FOREACH.get(mode, not looped)
        return kind(parameters, lr=settings["learning_rate"], foreach=foreach, **options)
    if mode in lazy.MODES:
        # Of the forms that it has, this one records the least: Adam's loop took 1.15 times as long, and 1.5 times with
        # the count of steps as a tensor of the device. The count becomes an argument of the graph, not a constant.
        return kind(parameters, lr=settings["learning_rate"], foreach=True, **options)
    # SGD has been fused since 2.3; Adam's refused parameters on a processor until 2.4. The default there is a loop. In
    # 1.13 it took 1.5 times as long as foreach for SGD's 300 tensors, 1.3 for Adam's 30, and 0.9 for Adam's 300 and
    # 1,000. Before 1.12 there is nothing else.
    for form in ("fused", "foreach"):
        with contextlib.suppress(TypeError, RuntimeError):
            return kind(parameters, lr=settings["learning_rate"], **{form: True}, **options)
    return kind(parameters, lr=settings["learning_rate"], **options)


def begin(optimizer):
    """Let an optimizer make its state, by a step that changes no parameter.

    Made in its first step, which "openxla" compiles, Adam's counts of steps stay on the processor: each step copies
    them, and calls eight executables in place of four.
    """
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate


def fusion(optimizer, mode):
    """Return the setting that says what fuses the operations of an optimizer, as it was made."""
    if mode in (COMPILED, *lazy.MODES):
        return {"fused optimizer": "by the compiler"}
    made = optimizer.param_groups[0]
    return {"fused optimizer": "foreach" if made.get("foreach") else bool(made.get("fused"))}


def tensors_of(optimizer):
    """Return the tensors of an optimizer's state."""
    return [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
