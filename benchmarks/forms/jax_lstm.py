"""Forms of the LSTM language model in JAX: sequence and batch of a product in two axes; several steps in one pass."""

from __future__ import annotations

import functools
from unittest import mock

import jax.numpy as jnp
from jax import lax

MULTIPLY = "bench.workloads.lstm_lm_train.jax:multiply"
unrolled = mock.Mock(wraps=lax, scan=functools.partial(lax.scan, unroll=4))

FORMS = {
    "two axes": {MULTIPLY: jnp.matmul},
    "unroll 4": {"bench.workloads.lstm_lm_train.jax:lax": unrolled},
}
