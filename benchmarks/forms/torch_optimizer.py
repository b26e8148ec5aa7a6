"""Forms of torch.optim's optimizers outside of a compiled graph: the default, the loop and the foreach form."""

from __future__ import annotations

from bench.frameworks.torch import optimizers

present = optimizers.make_optimizer
FOREACH = {**optimizers.FOREACH, "default": None}


def formed(name):
    """Return what replaces ours: an optimizer in the form of a mode, or without a keyword that names one."""
    return lambda parameters, settings, mode="eager": present(parameters, settings, name)


def replacing(name):
    make = formed(name)
    return {
        "bench.frameworks.torch.optimizers:FOREACH": FOREACH,
        "bench.frameworks.torch.training:make_optimizer": make,
        "bench.workloads.optimizer_step_adamw.torch:make_optimizer": make,
    }


FORMS = {
    "default": replacing("default"),
    "loop": replacing("optimizer-loop"),
    "foreach": replacing("optimizer-foreach"),
}
