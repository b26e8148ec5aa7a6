"""Forms of a training step's parameters in JAX: a dictionary by names, in place of a list."""

from __future__ import annotations

from unittest import mock

import jax

TRAINING = "bench.frameworks.jax.training:"
#: JAX, but that parameters stay a dictionary.
kept = mock.Mock(
    wraps=jax,
    tree_util=mock.Mock(
        wraps=jax.tree_util,
        tree_flatten=lambda parameters: (parameters, None),
        tree_unflatten=lambda structure, values: values,
    ),
)

FORMS = {"dictionary": {TRAINING + "jax": kept, TRAINING + "by_leaves": lambda differentiate, structure: differentiate}}
