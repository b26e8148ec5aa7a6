"""Implements optimizer-step-adamw in PyTorch: torch.optim, fused where it can be, or its function compiled."""

from __future__ import annotations

import torch

from ...frameworks.torch.training import functional_optimizer, make_optimizer
from ...program import Program, Unsupported
from . import OPTIMIZER


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    if transform.mode != "eager" and transform.part != "step":
        raise Unsupported("mode {} leaves the optimizer to torch.optim; use eager".format(transform.mode))
    trained = {name: value.clone() for name, value in parameters.items()}
    run, memory = (by_function if transform.part == "step" else by_class)(list(trained.values()), transform, optimizer)

    def reset():
        for name, value in trained.items():
            value.copy_(parameters[name])
        for value in memory():
            value.zero_()

    return Program(lambda *batch: run((batch,)), lambda: trained, reset, run)


def by_class(trained, transform, settings):
    """Return ``run`` of a step that gives the gradients to torch.optim, and what gives its state."""
    optimizer = make_optimizer(trained, settings)
    advance = transform(optimizer.step, training=True, settings=lambda: {"fused optimizer": fused(optimizer)})

    def run(batches):
        for batch in batches:
            for parameter, gradient in zip(trained, batch[1:]):
                parameter.grad = gradient
            advance()
        return {"loss": batch[0]}

    def memory():
        return [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]

    return run, memory


def fused(optimizer):
    return bool(optimizer.param_groups[0].get("fused"))


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
