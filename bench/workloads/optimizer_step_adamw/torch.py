"""Implements optimizer-step-adamw in PyTorch: torch.optim in the form of the mode, or its function compiled."""

from __future__ import annotations

import functools

from ...frameworks.torch import lazy
from ...frameworks.torch.compiler import FOREACH
from ...frameworks.torch.functional import functional_optimizer
from ...frameworks.torch.optimizers import COMPILED, fusion, make_optimizer, tensors_of
from ...program import Program, Unsupported
from . import OPTIMIZER


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    if transform.mode == lazy.OPENXLA:
        raise Unsupported("mode {} compiles the optimizer with a training step; use xla".format(transform.mode))
    if transform.mode not in ("eager", COMPILED, lazy.XLA, *FOREACH) and transform.part != "step":
        raise Unsupported("mode {} leaves the optimizer to torch.optim; use eager".format(transform.mode))
    if transform.mode == lazy.XLA:
        # Its steps write over buffers of the device, which copies there would share.
        parameters = {name: value.cpu() for name, value in parameters.items()}
        trained = {name: value.to(batch[0].device) for name, value in parameters.items()}
    else:
        trained = {name: value.clone() for name, value in parameters.items()}
    run, memory = (by_function if transform.part == "step" else by_class)(list(trained.values()), transform, optimizer)

    def reset():
        for name, value in trained.items():
            value.copy_(parameters[name])
        for value in memory():
            value.zero_()

    reset = lazy.stepping(reset) if transform.mode == lazy.XLA else reset
    return Program(lambda *batch: run((batch,)), lambda: trained, reset, run)


def by_class(trained, transform, settings):
    """Return ``run`` of a step that gives the gradients to torch.optim, and what gives its state."""
    optimizer = make_optimizer(trained, settings, transform.mode)
    in_force = functools.partial(fusion, optimizer, transform.mode)
    advance = transform(optimizer.step, training=True, settings=in_force, part="optimizer")

    def run(batches):
        for batch in batches:
            for parameter, gradient in zip(trained, batch[1:]):
                parameter.grad = gradient
            advance()
        return {"loss": batch[0]}

    return run, lambda: tensors_of(optimizer)


def by_function(trained, transform, settings):
    """Return ``run`` of the function behind torch.optim in its foreach form, transformed, and what gives its state."""
    update, state = functional_optimizer(trained, settings)

    def step(loss, *gradients):
        update(list(gradients))
        return loss

    transformed = transform(step, training=True, settings=lambda: {"fused optimizer": "by the compiler"}, part="step")

    def run(batches):
        for batch in batches:
            loss = transformed(*batch)
        return {"loss": loss}

    return run, lambda: state
