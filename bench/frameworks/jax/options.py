"""Sets options of JAX that not all of its versions have."""

from __future__ import annotations

import jax


def configure(name, value):
    """Set an option where this version has it.

    JAX 0.4.13 compiles anew in every process on a processor, whatever is set: it cannot keep such code.
    """
    if hasattr(jax.config, name):
        jax.config.update(name, value)
