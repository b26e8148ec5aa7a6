"""Makes the programs that train parameters with optax, as pure functions."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import optax

from ...program import Program
from . import looping
from .compiler import JITTED


def make_optimizer(settings):
    """Make the optax optimizer that a specification's ``OPTIMIZER`` names."""
    if settings["name"] == "sgd":
        return optax.sgd(settings["learning_rate"], momentum=settings.get("momentum"))
    if settings["name"] == "adam":
        return optax.adam(
            settings["learning_rate"], b1=settings["beta1"], b2=settings["beta2"], eps=settings["epsilon"]
        )
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def functional_training(loss, parameters, transform, settings, layout=None, attention=None):
    """Make the program that trains ``parameters`` on ``loss(parameters, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, its state donated, as JAX's users write it.
    ``layout`` and ``attention`` are as for ``inference``.
    """
    optimizer = make_optimizer(settings)

    def update(state, *batch):
        parameters, memory = state
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        updates, memory = optimizer.update(gradients, memory, parameters)
        return (optax.apply_updates(parameters, updates), memory), value

    initial = (parameters, optimizer.init(parameters))
    current = [None]
    given = [None]
    jitted = transform.mode in JITTED

    def in_force():
        # A donated array is deleted by the step.
        found = {"donation": given[0].is_deleted(), "fused optimizer": "by the compiler" if jitted else False}
        found.update((name, value) for name, value in (("layout", layout), ("attention", attention)) if value)
        return found

    transform_step = functools.partial(transform, training=True, settings=in_force, part="step", donate_argnums=0)
    advance = (looping.in_one if transform.mode == "jit-loop" else one_by_one)(update, transform_step)

    def run(batches):
        current[0], value = advance(current[0], batches)
        # All that one executable computes is ready at once, and each step needs the one before, so waiting for the last
        # loss is waiting for everything. Op by op each array is waited for.
        return {"loss": value} if jitted else {"loss": value, "state": current[0]}

    def reset():
        # Donation consumes its buffers, so the initial ones are copied.
        current[0] = jax.tree_util.tree_map(jnp.copy, initial)
        # Only the smallest is kept: keeping all would cost memory where nothing is donated.
        given[0] = min(jax.tree_util.tree_leaves(current[0]), key=lambda array: array.nbytes)

    reset()
    return Program(lambda *batch: run((batch,)), lambda: current[0][0], reset, run)


def one_by_one(update, transform_step):
    """Return ``advance(state, batches)``, which calls the transformed ``update`` once for each batch."""
    transformed = transform_step(update)

    def advance(state, batches):
        for batch in batches:
            state, value = transformed(state, *batch)
        return state, value

    return advance
