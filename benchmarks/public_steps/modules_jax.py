"""Makes steps of modules that have ``init`` and ``apply``, as those of flax' linen and of Haiku have, with optax."""

from __future__ import annotations

import jax
import optax
from transforms_jax import jitted, training


def inferred(module, mode, batch):
    """Return a step of a module's forward pass."""
    parameters = module.init(jax.random.PRNGKey(0), *batch)
    transformed = jitted(module.apply, mode, (parameters, *batch))
    return lambda *given: {"hidden": transformed(parameters, *batch)}


def trained(module, optimizer, mode, batch):
    """Return a step that trains a module, whose outputs are logits, with the cross-entropy."""
    parameters = module.init(jax.random.PRNGKey(0), batch[0])

    def loss(parameters, inputs, labels):
        logits = module.apply(parameters, inputs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    def update(state, inputs, labels):
        parameters, memory = state
        value, gradients = jax.value_and_grad(loss)(parameters, inputs, labels)
        updates, memory = optimizer.update(gradients, memory, parameters)
        return (optax.apply_updates(parameters, updates), memory), value

    return training(update, (parameters, optimizer.init(parameters)), mode, batch)
