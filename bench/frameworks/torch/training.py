"""Makes the programs that train a module: with an optimizer of torch.optim, or the whole step as one function."""

from __future__ import annotations

import torch

from ...program import Program
from .layouts import module_settings


def make_optimizer(parameters, settings):
    """Make the torch.optim optimizer that a specification's ``OPTIMIZER`` names, fused where this version can."""
    if settings["name"] == "sgd":
        kind, options = torch.optim.SGD, {"momentum": settings.get("momentum", 0.0)}
    elif settings["name"] in ("adam", "adamw"):
        kind, options = torch.optim.Adam, {"betas": (settings["beta1"], settings["beta2"]), "eps": settings["epsilon"]}
        if settings["name"] == "adamw":
            kind, options["weight_decay"] = torch.optim.AdamW, settings["weight_decay"]
    else:
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    parameters = list(parameters)
    try:
        return kind(parameters, lr=settings["learning_rate"], fused=True, **options)
    except (TypeError, RuntimeError):
        # SGD has had the keyword since 2.3; Adam's refused parameters on a processor until 2.4.
        return kind(parameters, lr=settings["learning_rate"], **options)


def module_training(module, transform, settings, parameters):
    """Make the program that trains ``module``, whose forward gives the loss of a batch.

    ``settings`` is the specification's OPTIMIZER; ``parameters()`` gives the parameters in the specification's names.
    The mode transforms the module, whose optimizer then is torch.optim's, or the whole step.
    """
    module.train()
    make = whole_step if transform.part == "step" else optimized
    initial = {name: value.clone() for name, value in module.state_dict().items()}
    run, memory = make(module, transform, settings)

    def reset():
        module.load_state_dict(initial)
        for value in memory():
            value.zero_()

    return Program(lambda *batch: run((batch,)), parameters, reset, run)


def optimized(module, transform, settings):
    """Return ``run`` of a step that calls the transformed module and torch.optim, and what gives the optimizer's state.

    Forward and backward run in the cell's mode, the optimizer as torch.optim ships it.
    """
    optimizer = make_optimizer(module.parameters(), settings)

    def in_force():
        return dict(module_settings(module), **{"fused optimizer": bool(optimizer.param_groups[0].get("fused"))})

    transformed = transform(module, training=True, settings=in_force)

    def run(batches):
        for batch in batches:
            optimizer.zero_grad(set_to_none=True)
            loss = transformed(*batch)
            loss.backward()
            optimizer.step()
        return {"loss": loss}

    def memory():
        return [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]

    return run, memory


def whole_step(module, transform, settings):
    """Return ``run`` of one function that computes loss, gradients and update, and what gives its optimizer's state.

    A function that calls ``backward`` breaks the graph, so the gradients are torch.func's. The update is the function
    behind torch.optim's class. Its foreach form lets Inductor fuse the updates of all parameters: mlp-train/tiny took
    0.6 of the time of the form that loops over them.
    """
    trained = {name: value.detach() for name, value in module.named_parameters()}
    buffers = dict(module.named_buffers())
    update, state = functional_optimizer(list(trained.values()), settings)

    def loss(trained, kept, *batch):
        # A functional transform forbids writing to the module's own running statistics.
        kept = {name: value.clone() for name, value in kept.items()}
        return torch.func.functional_call(module, dict(trained, **kept), batch), kept

    differentiate = torch.func.grad_and_value(loss, has_aux=True)

    def step(*batch):
        gradients, (value, kept) = differentiate(trained, buffers, *batch)
        update(list(gradients.values()))
        for name, buffer in buffers.items():
            buffer.copy_(kept[name])
        return value

    def in_force():
        return dict(module_settings(module), **{"fused optimizer": "by the compiler"})

    transformed = transform(step, training=True, settings=in_force, part="step")

    def run(batches):
        for batch in batches:
            loss = transformed(*batch)
        return {"loss": loss}

    return run, lambda: state


def functional_optimizer(parameters, settings):
    """Return ``update(gradients)`` and its state, with torch.optim's functions, which a compiler can trace."""
    from torch.optim.adam import adam
    from torch.optim.adamw import adamw
    from torch.optim.sgd import sgd

    rate = settings["learning_rate"]
    if settings["name"] == "sgd":
        momentum = settings.get("momentum", 0.0)
        velocities = [torch.zeros_like(value) for value in parameters] if momentum else []

        def descend(gradients):
            sgd(
                parameters, gradients, velocities or [None] * len(parameters), has_sparse_grad=False, foreach=True,
                weight_decay=0.0, momentum=momentum, lr=rate, dampening=0.0, nesterov=False, maximize=False,
            )  # fmt: skip

        return descend, velocities
    if settings["name"] in ("adam", "adamw"):
        kind = adam if settings["name"] == "adam" else adamw
        first, second = ([torch.zeros_like(value) for value in parameters] for _ in range(2))
        counts = [torch.zeros((), device=value.device) for value in parameters]

        def adapt(gradients):
            # ``capturable`` keeps the count of steps in tensors, as a compiled step needs; the name is of CUDA graphs.
            kind(
                parameters, gradients, first, second, [], counts, foreach=True, capturable=True, amsgrad=False,
                beta1=settings["beta1"], beta2=settings["beta2"], lr=rate, eps=settings["epsilon"], maximize=False,
                weight_decay=settings.get("weight_decay", 0.0),
            )  # fmt: skip

        return adapt, [*first, *second, *counts]
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))
