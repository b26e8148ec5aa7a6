"""Forms of per-sample-gradients-loop in PyTorch: a product and a sum, and slices of the rows."""

from __future__ import annotations

import torch

from bench.workloads.per_sample_gradients import torch as present


def sliced(parameters, inputs, labels):
    names, values = list(parameters), [value.detach().requires_grad_() for value in parameters.values()]
    found = [
        torch.autograd.grad(
            present.loss(dict(zip(names, values, strict=True)), inputs[row : row + 1], labels[row : row + 1]), values
        )
        for row in range(len(inputs))
    ]
    stacks = zip(*found, strict=True)
    return {name: torch.stack(gradients) for name, gradients in zip(names, stacks, strict=True)}


FORMS = {
    "sum apart": {"bench.workloads.per_sample_gradients.torch:loss_of_rows": present.loss},
    "sum apart; slices": {"bench.workloads.per_sample_gradients_loop.torch:looped": sliced},
}
