"""Makes the programs that JAX's users write: pure functions, and training them with optax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from ...program import Program


def inference(function, parameters, transform, layout=None):
    """Make the program of ``function(parameters, *batch) -> {name: array}``; parameters are an argument.

    ``layout`` is that of the function's convolutions, if it has any: NHWC or NCHW.
    """
    transformed = transform(function, settings=lambda: {"layout": layout} if layout else {})
    return Program(lambda *batch: transformed(parameters, *batch))


def make_optimizer(settings):
    """Make the optax optimizer that a specification's ``OPTIMIZER`` names."""
    if settings["name"] == "sgd":
        return optax.sgd(settings["learning_rate"], momentum=settings.get("momentum"))
    if settings["name"] == "adam":
        return optax.adam(
            settings["learning_rate"], b1=settings["beta1"], b2=settings["beta2"], eps=settings["epsilon"]
        )
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def functional_training(loss, parameters, transform, settings, layout=None):
    """Make the program that trains ``parameters`` on ``loss(parameters, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, its state donated, as JAX's users write it.
    ``layout`` is that of the loss's convolutions, if it has any: NHWC or NCHW.
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

    def in_force():
        # A donated array is deleted by the step.
        found = {"donation": given[0].is_deleted()}
        found["fused optimizer"] = "by the compiler" if transform.mode == "jit" else False
        if layout:
            found["layout"] = layout
        return found

    transformed = transform(update, training=True, settings=in_force, part="step", donate_argnums=0)

    def reset():
        # Donation consumes its buffers, so the initial ones are copied.
        current[0] = jax.tree_util.tree_map(jnp.copy, initial)
        # Only the smallest is kept: keeping all would cost memory where nothing is donated.
        given[0] = min(jax.tree_util.tree_leaves(current[0]), key=lambda array: array.nbytes)

    def step(*batch):
        current[0], value = transformed(current[0], *batch)
        # What one executable computes is ready at once, so waiting for the loss is waiting for all of it; walking the
        # whole state would cost every step 4 to 20 us that are not JAX's. Op by op each array is waited for.
        return {"loss": value} if transform.mode == "jit" else {"loss": value, "state": current[0]}

    reset()
    return Program(step, lambda: current[0][0], reset)
