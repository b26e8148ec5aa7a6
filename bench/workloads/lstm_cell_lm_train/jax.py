"""Implements lstm-cell-lm-train in JAX: a function that is the cell, in a loop of Python, which jit unrolls."""

from __future__ import annotations

import functools

import jax.numpy as jnp

from ..lstm_lm_train import jax as scanned


def recur(inputs, weight, recurrent):
    """Map inputs (sequence, batch, width) to the hidden states of a layer; the cell projects its own input."""
    cell = hidden = jnp.zeros(inputs.shape[1:], inputs.dtype)
    states = []
    for each in inputs:
        cell, hidden = scanned.update(cell, each @ weight + hidden @ recurrent)
        states.append(hidden)
    return jnp.stack(states)


build = functools.partial(scanned.build, recur=recur)
