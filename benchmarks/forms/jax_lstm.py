"""Forms of the LSTM language model in JAX: a gradient of our own; two axes in a product; several steps in one pass."""

from __future__ import annotations

import functools
from unittest import mock

import jax
import jax.numpy as jnp
from jax import lax

from bench.workloads.lstm_lm_train.jax import build, multiply, update

MULTIPLY = "bench.workloads.lstm_lm_train.jax:multiply"
unrolled = mock.Mock(wraps=lax, scan=functools.partial(lax.scan, unroll=4))


@jax.custom_vjp
def recur_projected(projected, recurrent):
    """Map projected inputs (sequence, batch, 4 · width) to hidden states; the gradient has a single product of weights.

    In the gradient that JAX derives, each step multiplies, and adds to the gradient of the recurrent weights. A step of
    training took 1.13 times as long with it in size small, 1.06 times in tiny, and 1.4 times (small) in jit-loop.
    """
    return forward(projected, recurrent)[0]


def forward(projected, recurrent):
    def step(carried, given):
        cell, hidden = carried
        gates = given + hidden @ recurrent
        new = update(cell, gates)
        return new, (new[1], cell, hidden, gates)

    zeros = jnp.zeros((projected.shape[1], len(recurrent)), projected.dtype)
    states, *kept = lax.scan(step, (zeros, zeros), projected)[1]
    return states, (kept, recurrent)


def backward(kept, slopes):
    (cells, hidden, gates), recurrent = kept

    def step(carried, given):
        of_cell, of_hidden = carried
        cell, gates, slope = given
        of_cell, of_gates = jax.vjp(update, cell, gates)[1]((of_cell, of_hidden + slope))
        return (of_cell, of_gates @ recurrent.T), of_gates

    zeros = jnp.zeros_like(cells[0])
    of_gates = lax.scan(step, (zeros, zeros), (cells, gates, slopes), reverse=True)[1]
    rows = of_gates.reshape(-1, of_gates.shape[-1])
    return of_gates, hidden.reshape(-1, hidden.shape[-1]).T @ rows


recur_projected.defvjp(forward, backward)


def one_product(inputs, weight, recurrent):
    """Do as ``recur``, with this gradient."""
    return recur_projected(multiply(inputs, weight), recurrent)


FORMS = {
    "one product": {"bench.workloads.lstm_lm_train.jax:build": functools.partial(build, recur=one_product)},
    "two axes": {MULTIPLY: jnp.matmul},
    "unroll 4": {"bench.workloads.lstm_lm_train.jax:lax": unrolled},
}
