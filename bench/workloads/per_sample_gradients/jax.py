"""Implements per-sample-gradients in JAX: jax.vmap of jax.grad, with an outer product of its own on a processor."""

from __future__ import annotations

import functools

import jax

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import inference
from ...frameworks.jax.compiler import compiles_for_processor
from ..mlp_train.jax import loss


@jax.custom_vjp
def product(row, weight):
    """Multiply a row and a matrix; the gradient of the matrix is an outer product in the order of the result.

    JAX's own gradient of a product is another product, of which vmap makes one product for each row of the batch. On a
    processor a step took 2.7 times as long with it in size small (14.5 and 5.4 ms), 2.3 times in medium.
    """
    return row @ weight


def forward(row, weight):
    return row @ weight, (row, weight)


def backward(kept, slope):
    row, weight = kept
    return weight @ slope, row[:, None] * slope[None, :]


product.defvjp(forward, backward)


def build(size, parameters, batch, transform):
    own = {"product": product} if compiles_for_processor(transform.mode) else {}
    function = functools.partial(loss, score=losses.of_mode(transform.mode), **own)
    return inference(jax.vmap(jax.grad(function), in_axes=(None, 0, 0)), parameters, transform)
