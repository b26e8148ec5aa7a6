"""Rounds arrays as bfloat16 holds them, to learn what error a training step in mixed precision has by itself.

Its updates differ from float64 by far more than unit roundoffs: activations that become equal change a maximum or a
ReLU, and Adam divides by the root of a square, so that the sign of a gradient near zero decides. Updates of lenet-train
are 0.4 away, of lstm-lm-train 0.01. A bound that is scaled from float32 would refuse the first and accept anything of
the second. So NumPy computes the specification with every result and gradient rounded. PyTorch, TensorFlow and JAX then
use a quarter to a half of three times that error (reports/reference/mixed-precision).
"""

from __future__ import annotations

from typing import Any, Dict

import numpy as np


def to_bfloat16(array: Any) -> Any:
    """Round a float32 array to the nearest bfloat16, ties to even, and keep its type; numbers and integers stay."""
    if not isinstance(array, np.ndarray) or array.ndim == 0 or array.dtype != np.float32:
        return array
    bits = np.ascontiguousarray(array).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    return np.where(np.isfinite(array), rounded.astype(np.uint32).view(np.float32).reshape(array.shape), array)


def least_error(optimizer: Dict[str, Any], count: int) -> float:
    """Return the relative error that an update of ``count`` elements may have whatever the rounded references have.

    For Adam it is that of an element whose gradient has another sign, shared among them.
    """
    return 1.0 / count**0.5 if optimizer["name"] in ("adam", "adamw") else 2.0**-8
