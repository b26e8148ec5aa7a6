"""Makes the programs that Haiku users write: modules in a function, hk.transform, jax.jit, an optimizer of optax."""

from __future__ import annotations

import haiku as hk

from ..jax import programs as of_jax
from ..jax.losses import cross_entropy
from ..jax.training import functional_training

#: What Haiku calls a parameter that a specification's name ends with.
KINDS = {"weight": "w", "bias": "b", "scale": "scale", "shift": "offset", "embedding": "embeddings"}


def training(predict, paths, parameters, transform, settings, kept=None, **found):
    """Make the program that trains ``predict`` from a batch's inputs to logits on the mean cross-entropy.

    ``predict`` makes its modules in the call. ``paths`` maps the specification's names to (module, parameter) there.
    ``kept`` is the first state of the modules, as Haiku has it; the program's parameters contain the current one.
    ``found`` are settings that the program has, such as ``layout``.
    """
    apply, kept = applied(predict), kept or {}

    def called(parameters, kept, inputs):
        return apply(nested(paths, parameters), kept, inputs)

    def loss(parameters, kept, inputs, labels):
        logits, kept = called(parameters, kept, inputs)
        return cross_entropy(logits, labels), kept

    def outputs(parameters, inputs):
        return called(parameters, {}, inputs)[0]

    # With a state, ``predict`` does not do what it does when predicting.
    evaluated = None if kept else outputs
    return functional_training(loss, parameters, transform, settings, kept=kept, outputs=evaluated, **found)


def inference(predict, paths, parameters, transform, output, states=None, **found):
    """Make the program of ``predict``, which maps a batch's input to what is called ``output``; see ``training``.

    ``states`` are paths of what the modules hold as state.
    """
    apply = applied(predict)

    def called(parameters, inputs):
        outputs, _ = apply(nested(paths, parameters), nested(states or {}, parameters), inputs)
        return {output: outputs}

    return of_jax.inference(called, parameters, transform, **found)


def applied(predict):
    """Return the pure function of parameters, state and an input, which returns the output and the new state."""
    return hk.without_apply_rng(hk.transform_with_state(predict)).apply


def nested(paths, values):
    """Return values by their paths, as Haiku takes them."""
    modules = {}
    for name, (module, kind) in paths.items():
        modules.setdefault(module, {})[kind] = values[name]
    return modules
