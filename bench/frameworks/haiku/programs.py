"""Makes the programs that Haiku users write: modules in a function, hk.transform, jax.jit, an optimizer of optax."""

from __future__ import annotations

import haiku as hk
import optax

from ..jax import programs as of_jax
from ..jax.training import functional_training

#: What Haiku calls a parameter that a specification's name ends with.
KINDS = {"weight": "w", "bias": "b", "scale": "scale", "shift": "offset", "embedding": "embeddings"}


def training(predict, paths, parameters, transform, settings, **found):
    """Make the program that trains ``predict`` from a batch's inputs to logits on the mean cross-entropy.

    ``predict`` makes its modules in the call. ``paths`` maps the specification's names to (module, parameter) there.
    ``found`` are settings that the program has, such as ``layout``.
    """
    apply = applied(predict, paths)

    def loss(parameters, inputs, labels):
        logits = apply(parameters, inputs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    return functional_training(loss, parameters, transform, settings, outputs=apply, **found)


def inference(predict, paths, parameters, transform, output, **found):
    """Make the program of ``predict``, which maps a batch's input to what is called ``output``; see ``training``."""
    apply = applied(predict, paths)
    return of_jax.inference(lambda *arguments: {output: apply(*arguments)}, parameters, transform, **found)


def applied(predict, paths):
    """Return the pure function of the specification's parameters and an input."""
    pure = hk.without_apply_rng(hk.transform(predict)).apply

    def apply(parameters, inputs):
        modules = {}
        for name, (module, kind) in paths.items():
            modules.setdefault(module, {})[kind] = parameters[name]
        return pure(modules, inputs)

    return apply
