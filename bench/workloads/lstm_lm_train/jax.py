"""Implements lstm-lm-train in JAX: lax.scan over time, with optax; the inputs of all steps are projected at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import functional_training
from . import OPTIMIZER


def update(cell, gates):
    """Return the cell and the hidden state after a step whose gates have these inputs."""
    entered, kept, new, shown = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(kept) * cell + jax.nn.sigmoid(entered) * jnp.tanh(new)
    return cell, jax.nn.sigmoid(shown) * jnp.tanh(cell)


def multiply(inputs, weight):
    """Multiply inputs (sequence, batch, width) and a matrix, with one axis for sequence and batch.

    With two, XLA on a processor copies and transposes slopes for the gradient of the matrix.
    """
    return (inputs.reshape(-1, inputs.shape[-1]) @ weight).reshape(*inputs.shape[:-1], -1)


def recur(inputs, weight, recurrent):
    """Map inputs (sequence, batch, width) to the hidden states of a layer."""

    def step(carried, projected):
        cell, hidden = carried
        cell, hidden = update(cell, projected + hidden @ recurrent)
        return (cell, hidden), hidden

    zeros = jnp.zeros(inputs.shape[1:], inputs.dtype)
    return lax.scan(step, (zeros, zeros), multiply(inputs, weight))[1]


def build(size, parameters, batch, transform, recur=recur):
    score = losses.of_mode(transform.mode)

    def loss(parameters, tokens, targets):
        hidden = parameters["embedding"][tokens.T]
        for index in range(size["layers"]):
            hidden = recur(hidden, parameters["layer%d.input" % index], parameters["layer%d.state" % index])
        # The gradient of the bias is a sum over all rows: in bfloat16 (mixed precision) it was a quarter off in small.
        logits = losses.wide(multiply(hidden, parameters["dense.weight"])) + losses.wide(parameters["dense.bias"])
        return score(logits, targets.T)

    return functional_training(loss, parameters, transform, OPTIMIZER)
