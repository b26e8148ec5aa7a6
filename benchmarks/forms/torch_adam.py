"""Forms of the compiled optimizer in PyTorch: an operation for each tensor or for all, and how it counts steps."""

from __future__ import annotations

import torch

from bench.frameworks.torch import functional, optimizers

present = functional.functional_optimizer


def loop(parameters, settings):
    """Return the function behind torch.optim's class in its loop over the tensors."""
    from torch.optim.adam import adam
    from torch.optim.sgd import sgd

    rate, zeros = settings["learning_rate"], lambda: [torch.zeros_like(value) for value in parameters]
    if settings["name"] == "sgd":
        momentum = settings.get("momentum", 0.0)
        velocities = zeros() if momentum else []

        def descend(gradients):
            sgd(
                parameters, gradients, velocities or [None] * len(parameters), has_sparse_grad=False, foreach=False,
                weight_decay=0.0, momentum=momentum, lr=rate, dampening=0.0, nesterov=False, maximize=False,
            )  # fmt: skip

        return descend, velocities
    first, second, counts = zeros(), zeros(), [torch.zeros(()) for _ in parameters]

    def adapt(gradients):
        adam(
            parameters, gradients, first, second, [], counts, foreach=False, capturable=True, amsgrad=False,
            beta1=settings["beta1"], beta2=settings["beta2"], lr=rate, eps=settings["epsilon"], maximize=False,
            weight_decay=settings.get("weight_decay", 0.0), decoupled_weight_decay=settings["name"] == "adamw",
        )  # fmt: skip

    return adapt, [*first, *second, *counts]


def one_count(parameters, settings):
    """Return an Adam whose tensors share one count of steps, and so one correction of the bias."""
    if settings["name"] == "sgd":
        return present(parameters, settings)
    rate, beta1, beta2 = settings["learning_rate"], settings["beta1"], settings["beta2"]
    decay = settings.get("weight_decay", 0.0)
    first, second = ([torch.zeros_like(value) for value in parameters] for _ in range(2))
    count = torch.zeros(())

    def adapt(gradients):
        count.add_(1)
        correction = (1 - beta2**count).sqrt()
        size = -rate / (1 - beta1**count)
        for value, gradient, mean, square in zip(parameters, gradients, first, second, strict=True):
            if decay:
                value.mul_(1 - rate * decay)
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            value.add_(mean / (square.sqrt() / correction + settings["epsilon"]) * size)

    return adapt, [*first, *second, count]


STEP = "bench.workloads.optimizer_step_adamw.torch:functional_optimizer"
TRAIN = "bench.frameworks.torch.training:functional_optimizer"
CLASS = "bench.frameworks.torch.optimizers:FOREACH"
FORMS = {
    "function; loop": {STEP: loop, TRAIN: loop},
    "function; one count": {STEP: one_count, TRAIN: one_count},
    "class; foreach": {CLASS: {**optimizers.FOREACH, optimizers.COMPILED: True}},
    "class; loop": {CLASS: {**optimizers.FOREACH, optimizers.COMPILED: False}},
}
