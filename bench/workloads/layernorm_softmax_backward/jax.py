"""Implements layernorm-softmax-backward in JAX: jax.vjp."""

from __future__ import annotations

import jax

from ...frameworks.jax.adapter import inference
from ..layernorm_softmax.jax import normalise


def differentiate(parameters, inputs, gradient):
    _, pull = jax.vjp(normalise, parameters, inputs)
    of_parameters, of_inputs = pull({"probabilities": gradient})
    return dict(of_parameters, inputs=of_inputs)


def build(size, parameters, batch, transform):
    return inference(differentiate, parameters, transform)
