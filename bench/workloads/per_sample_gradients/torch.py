"""Implements per-sample-gradients in PyTorch: outer products of layers; in functorch and compiled, vmap of grad."""

from __future__ import annotations

import torch
from torch.nn import functional

from ...frameworks.torch import lazy
from ...frameworks.torch.compiler import FUNCTORCH, PRESETS, is_first_compiler
from ...program import Program, Unsupported


def transformations():
    """Return the module with vmap and grad: torch.func, or functorch before 2.0; None without it."""
    if hasattr(torch, "func"):
        return torch.func
    try:
        import functorch
    except ImportError:
        return None
    return functorch


def loss(parameters, inputs, labels, activate=torch.relu):
    """Compute the mean cross-entropy of a perceptron with weights (inputs, outputs), for rows or a single one."""
    count, hidden = len(parameters) // 2, inputs
    for index in range(count):
        hidden = torch.matmul(hidden, parameters["weight%d" % index]) + parameters["bias%d" % index]
        if index < count - 1:
            hidden = activate(hidden)
    return functional.cross_entropy(hidden, labels)


def loss_of_rows(parameters, inputs, labels):
    """Compute the same for rows, whose sums with the bias are part of the products."""
    count, hidden = len(parameters) // 2, inputs
    for index in range(count):
        hidden = torch.addmm(parameters["bias%d" % index], hidden, parameters["weight%d" % index])
        if index < count - 1:
            hidden = torch.relu(hidden)
    return functional.cross_entropy(hidden, labels)


def looped(parameters, inputs, labels):
    """Differentiate row by row."""
    names, values = list(parameters), [value.detach().requires_grad_() for value in parameters.values()]
    found = [
        torch.autograd.grad(loss_of_rows(dict(zip(names, values)), *row), values)
        for row in zip(inputs.split(1), labels.split(1))
    ]
    return {name: torch.stack(gradients) for name, gradients in zip(names, zip(*found))}


def by_layers(parameters, inputs, labels):
    """Differentiate all rows at once: a layer's gradient for a row is the outer product of its input and its slope.

    So do Opacus and PyTorch's expanded weights. vmap of grad took 7 times as long in size tiny, 2.8 times in small. It
    stays where torch.compile traces it: the graph breaks at a gradient of autograd.
    """
    count, hidden, given, sums = len(parameters) // 2, inputs, [], []
    for index in range(count):
        given.append(hidden)
        total = torch.addmm(parameters["bias%d" % index], hidden, parameters["weight%d" % index])
        # Autograd records from the first sum on; the parameters need no gradients.
        sums.append(total if index else total.requires_grad_())
        hidden = torch.relu(total) if index < count - 1 else total
    slopes = torch.autograd.grad(functional.cross_entropy(hidden, labels, reduction="sum"), sums)
    found = {}
    for index, (row, slope) in enumerate(zip(given, slopes)):
        found["weight%d" % index] = row.detach().unsqueeze(2) * slope.unsqueeze(1)
        found["bias%d" % index] = slope
    return found


def differentiating(function, transform, names):
    """Make the program of a function that differentiates, which inference mode would keep from it."""
    if transform.mode.startswith("torchscript"):
        raise Unsupported("TorchScript cannot hold a function that differentiates; use eager")
    if transform.mode == "aot-inductor":
        raise Unsupported("torch.export cannot hold a function that differentiates; use compile")
    if is_first_compiler(transform.mode):
        raise Unsupported(
            "torch.compile of torch {} fails in a function that differentiates; use eager".format(torch.__version__)
        )
    return looping(transform(function), names)


def looping(function, names):
    """Make the program of a function that differentiates, in whatever mode it is, and returns a tuple."""

    def run(batches):
        for batch in batches:
            outputs = function(*batch)
        return dict(zip(names, outputs))

    return Program(lambda *batch: run((batch,)), run=run)


def build(size, parameters, batch, transform):
    differentiate = by_layers
    if transform.mode in (FUNCTORCH, lazy.OPENXLA, *PRESETS):
        library = transformations()
        if library is None:
            raise Unsupported("torch {} has no functorch beside it".format(torch.__version__))
        differentiate = library.vmap(library.grad(loss), in_dims=(None, 0, 0))

    def ordered(inputs, labels):
        found = differentiate(parameters, inputs, labels)
        return tuple(found[name] for name in parameters)

    if transform.mode == FUNCTORCH:
        # Its own way of differentiating is all that this mode has; other inference is that of eager.
        return looping(ordered, tuple(parameters))
    return differentiating(ordered, transform, tuple(parameters))
