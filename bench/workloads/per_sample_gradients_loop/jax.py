"""Implements per-sample-gradients-loop in JAX: lax.map of jax.grad; op by op a loop of Python."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import inference
from ..mlp_train.jax import loss


def in_python(function, rows):
    """Do as lax.map does, which is compiled also where everything else runs op by op."""
    found = [function(row) for row in zip(*rows)]
    return {name: jnp.stack([gradients[name] for gradients in found]) for name in found[0]}


def build(size, parameters, batch, transform):
    each = in_python if transform.mode == "eager" else lax.map
    gradient = jax.grad(functools.partial(loss, score=losses.of_mode(transform.mode)))

    def differentiate(parameters, *rows):
        return each(lambda row: gradient(parameters, *row), rows)

    return inference(differentiate, parameters, transform)
