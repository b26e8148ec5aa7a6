"""Makes PyTorch's public forms of derivatives: torch.func's tutorials, torch.autograd.functional, and Opacus."""

from __future__ import annotations

import copy
import itertools

import lazy_torch
import torch
from torch import nn
from torch.nn import functional
from transforms_torch import COMPILED, transformations

try:
    from opacus.grad_sample.utils import prepare_module
except ImportError:
    prepare_module = None

#: What returns the gradients of nn.Linear, whose weights have the outputs first.
PUBLIC_ORDER = ("vmap(grad)", "opacus, hooks", "opacus, functorch", "opacus, ew")


def perceptron(size, activation):
    widths = [size["inputs"]] + [size["hidden"]] * size["layers"]
    hidden = [layer for pair in itertools.pairwise(widths) for layer in (nn.Linear(*pair), activation())]
    return nn.Sequential(*hidden, nn.Linear(widths[-1], size["classes"]))


def per_sample_gradients(size, parameters, mode):
    """Differentiate as the tutorial of torch.func does, vmap of grad of a functional call, and as Opacus does."""
    library, call = transformations()
    network = lazy_torch.placed(perceptron(size, nn.ReLU), mode)
    values = {name: value.detach() for name, value in network.named_parameters()}
    for value, given in zip(values.values(), parameters.values(), strict=True):
        # nn.Linear has the outputs first.
        value.copy_(given.t())

    def loss(values, row, label):
        return functional.cross_entropy(call(network, values, (row.unsqueeze(0),)), label.unsqueeze(0))

    differentiated = library.vmap(library.grad(loss), in_dims=(None, 0, 0))

    def by_vmap(inputs, labels):
        return list(differentiated(values, inputs, labels).values())

    # Under the backend "openxla" Opacus' hooks end in an error: "Failed to get computation by hash".
    alone = mode in COMPILED or mode == lazy_torch.OPENXLA
    return {"vmap(grad)": by_vmap} if alone else {"vmap(grad)": by_vmap, **private(network)}


def private(network):
    """Return Opacus' forms: hooks, functorch, and PyTorch's expanded weights; empty where it is not installed.

    Its modules leave the gradients of every sample in the parameters, and the mean gradient, too.
    """
    if prepare_module is None:
        return {}
    found = {}
    for form in ("hooks", "functorch", "ew"):
        module = prepare_module(copy.deepcopy(network), form, batch_first=True, loss_reduction="mean")

        def differentiate(inputs, labels, module=module):
            module.zero_grad(set_to_none=True)
            functional.cross_entropy(module(inputs), labels).backward()
            return [parameter.grad_sample for parameter in module.parameters()]

        found[f"opacus, {form}"] = differentiate
    return found


def hessian_vector(size, parameters, mode):
    """Multiply as torch.autograd.functional does, and as the tutorial of torch.func: jvp of grad."""
    names = list(parameters)

    def loss(values, inputs, labels):
        hidden = inputs
        for index in range(0, len(values), 2):
            hidden = functional.linear(hidden, values[index].t(), values[index + 1])
            hidden = torch.tanh(hidden) if index < len(values) - 2 else hidden
        return functional.cross_entropy(hidden, labels)

    values = tuple(parameters[name] for name in names)

    def twice(inputs, labels, *vectors):
        return torch.autograd.functional.vhp(lambda *values: loss(values, inputs, labels), values, vectors)[1]

    # PyTorch 2.15 compiles it without a second backward pass, and returns zeros.
    found = {} if mode in COMPILED else {"autograd.functional.vhp": twice}
    # In PyTorch/XLA 2.9 the products of torch.func's tutorial are too large, by the number of rows.
    if hasattr(torch, "func") and mode not in lazy_torch.LAZY:

        def forward_over_reverse(inputs, labels, *vectors):
            return torch.func.jvp(torch.func.grad(lambda values: loss(values, inputs, labels)), (values,), (vectors,))[
                1
            ]

        found["jvp(grad)"] = forward_over_reverse
    return found
