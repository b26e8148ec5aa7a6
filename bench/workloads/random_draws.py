"""Holds what random-normal and random-uniform share: presets, the seed of a step, and how draws are checked.

No two frameworks draw the same numbers, so that a reference names a distribution, see bench.worker.checking.draws.
"""

from __future__ import annotations

import numpy as np

from ..worker.checking import draws

#: ``check`` has more draws than ``tiny``, so that a wrong generator is found.
SIZES = {
    "check": {"draws": 1 << 16},
    "tiny": {"draws": 1 << 12},
    "small": {"draws": 1 << 20},
    "medium": {"draws": 1 << 24},
    "large": {"draws": 1 << 28},
}
PRECISIONS = ("float32",)
#: Of NumPy's generator, which draws for the framework numpy.
SEED = 20


def parameters(size, random):
    """Draw nothing: the state of a generator is the framework's own."""
    return {}


def batch(size, random, source=None):
    """Draw the seed (1,) of a step, which generators without a state of their own need."""
    return (np.array([random.randint(0, 2**31 - 1)], np.int32),)


def expected(distribution, size):
    """Return the reference: so many draws of a distribution."""
    return {"draws": draws.expected(distribution, size["draws"])}


def items(size):
    return size["draws"]


def compulsory_bytes(size, itemsize):
    """Count each draw written once."""
    return float(itemsize * size["draws"])
