"""Hashes the arrays that all environments must draw alike, and changes initial weights in their last bit."""

from __future__ import annotations

import hashlib
from typing import Any, Dict, Iterable

import numpy as np


def digest(parameters: Dict[str, Any], batches: Iterable[Any]) -> str:
    """Return a hash of parameters and batches, to detect environments that drew others."""
    hashed = hashlib.sha256()
    for array in [parameters[name] for name in sorted(parameters)] + [array for batch in batches for array in batch]:
        hashed.update(str(array.dtype).encode() + str(array.shape).encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


def nudged(parameters: Dict[str, Any], run: int, step: float = 2.0**-23) -> Dict[str, Any]:
    """Return float32 parameters with random changes by ``step``, the last bit; run 0 leaves them unchanged."""
    if run == 0:
        return parameters
    random = np.random.RandomState(run)
    return {
        name: (value * (1 + random.choice([-1, 0, 1], value.shape) * step)).astype(value.dtype)
        if value.dtype.kind == "f"
        else value
        for name, value in parameters.items()
    }
