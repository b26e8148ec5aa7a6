"""Implements per-sample-gradients-loop in PyTorch: autograd row by row; compiled, torch.func's gradient of one row."""

from __future__ import annotations

import torch

from ...frameworks.torch import lazy
from ..per_sample_gradients.torch import differentiating, looped, loss, transformations


def build(size, parameters, batch, transform):
    names = tuple(parameters)
    if not transform.mode.startswith("compile"):
        # Op by op this is what a person writes without functorch.
        return differentiating(lambda *rows: tuple(looped(parameters, *rows).values()), transform, names)

    def repeated(function, **options):
        if transform.mode == lazy.OPENXLA:
            options["part"] = lazy.CALL
        alone = transform(function, **options)

        def differentiate(inputs, labels):
            found = [alone(*row) for row in zip(inputs, labels)]
            return tuple(torch.stack(gradients) for gradients in zip(*found))

        return lazy.stepping(differentiate, waits=True, calls=True) if transform.mode == lazy.OPENXLA else differentiate

    # One row is compiled and called for each: all rows in a graph would be as many copies.
    gradient = transformations().grad(loss)

    def alone(inputs, label):
        if transform.mode == lazy.OPENXLA:
            # PyTorch/XLA 2.9 ends the process in a cross-entropy without an axis of samples.
            inputs, label = inputs.unsqueeze(0), label.unsqueeze(0)
        found = gradient(parameters, inputs, label)
        return tuple(found[name] for name in names)

    return differentiating(alone, transform.calling(repeated), names)
