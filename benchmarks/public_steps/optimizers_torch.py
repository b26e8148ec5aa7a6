"""Makes runs of torch.optim over given gradients, in the forms that its documentation has."""

from __future__ import annotations

import lazy_torch
import torch
from torch import nn
from transforms_torch import COMPILED, FOREACH

from bench.frameworks.torch.optimizers import tensors_of

#: {name: the keywords of a form}
FORMS = {
    "default": {},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
    "loop": {"foreach": False},
    "capturable": {"capturable": True},
}


def optimizers(make, mode, batch, parameters):
    """Make steps of torch.optim in the forms that a mode leaves to choose; compiled where it compiles a step."""
    found = {}
    parameters = lazy_torch.kept(parameters, mode)
    for name in forms(mode):
        trained = [nn.Parameter(value.clone().to(batch[0].device)) for value in parameters.values()]
        for parameter, gradient in zip(trained, batch[1:], strict=True):
            parameter.grad = gradient
        try:
            optimizer = make(trained, **FORMS[name])
            optimizer.step()
        except (TypeError, RuntimeError):
            continue
        restart(optimizer, trained, parameters)
        advance = torch.compile(optimizer.step) if compiles(mode) else optimizer.step
        if mode == lazy_torch.XLA:
            advance = lazy_torch.ended_by_sync(advance)
        found["torch.optim, " + name] = stepping(trained, advance)
    return found


def forms(mode):
    """Name the forms that a mode leaves to choose.

    PyTorch 2.15 does not compile the fused one ("don't trace into fused optimizer"). Who asks for it has ``Adam.step``
    skipped in all of the process, and another optimizer then fails: "Expected scalars to be on CPU, got meta instead".
    """
    if mode in FOREACH:
        return ("foreach",) if FOREACH[mode] else ("loop",)
    if mode == lazy_torch.XLA:
        return ("default", "foreach", "capturable")
    return ("default", "foreach") if compiles(mode) else ("default", "foreach", "fused")


def compiles(mode):
    return mode in COMPILED or mode == "compile-optimizer"


def restart(optimizer, trained, parameters):
    """Take back the steps of an optimizer, whose state keeps its tensors."""
    with torch.no_grad():
        for value, given in zip(trained, parameters.values(), strict=True):
            value.copy_(given)
        for tensor in tensors_of(optimizer):
            tensor.zero_()


def stepping(trained, advance):
    """Do steps with gradients of their own, as ours do."""

    def run(batches):
        for batch in batches:
            for parameter, gradient in zip(trained, batch[1:], strict=True):
                parameter.grad = gradient
            advance()
        return {"loss": batch[0], "outputs": trained}

    return run


OPTIMIZERS = {
    "optimizer-step-sgd": lambda trained, **options: torch.optim.SGD(trained, 0.05, momentum=0.9, **options),
    "optimizer-step-adam": lambda trained, **options: torch.optim.Adam(trained, 1e-3, **options),
    "optimizer-step-adamw": lambda trained, **options: torch.optim.AdamW(trained, 1e-3, weight_decay=0.1, **options),
}
