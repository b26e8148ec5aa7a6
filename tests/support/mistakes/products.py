"""Plants products of matrices, forward and backward, with fewer bits in their factors or in their sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from planted_mistake import Mistake

from bench.differentiation.rules import summed_to
from bench.differentiation.tape import UFUNCS
from bench.worker.checking import optimizers

#: Bits of the mantissa that a format keeps of float32's 23.
BITS = {"TF32": 10, "bfloat16": 7}
#: Products that are added at once, before their sum is rounded.
ADDED = 4


def rounded(values, kind):
    """Round float32 values to a shorter format, ties away from zero but in float16; keep their dtype."""
    if kind == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    dropped = 23 - BITS[kind]
    bits = np.ascontiguousarray(values).view(np.int32)
    return ((bits + (1 << (dropped - 1))) & -(1 << dropped)).view(np.float32)


def short_factors(kind):
    return lambda left, right: rounded(left, kind) @ rounded(right, kind)


def short_sums(kind):
    def product(left, right):
        total = np.float32(0)
        for start in range(0, left.shape[-1], ADDED):
            part = left[..., start : start + ADDED] @ right[..., start : start + ADDED, :]
            total = rounded(total + rounded(part, kind), kind)
        return total

    return product


def multiplied(product: Callable) -> Mistake:
    """Compute all products of matrices by a function of two stacks of them."""

    def matmul(result, left, right):
        result[...] = product(left, right)

        def pull_right(gradient):
            if right.ndim == 2:
                return product(left.reshape(-1, left.shape[-1]).T, gradient.reshape(-1, gradient.shape[-1]))
            return summed_to(product(left.swapaxes(-1, -2), gradient), right.shape)

        return lambda gradient: summed_to(product(gradient, right.swapaxes(-1, -2)), left.shape), pull_right

    return Mistake(replaced=((UFUNCS, np.matmul, matmul),))


def short_moments(kind):
    def update(optimizer, moments, *rest):
        optimizers.update(optimizer, moments, *rest)
        for name, value in moments.items():
            if name != "count":
                moments[name] = rounded(value, kind)

    return Mistake(update=update)


def rows(case):
    none = "no products" if case.network == "given gradients" else ""
    for kind in ("TF32", "float16", "bfloat16"):
        yield f"{kind} factors", none or multiplied(short_factors(kind))
    for kind in ("float16", "bfloat16"):
        yield f"{kind} sums of products", none or multiplied(short_sums(kind))
    unkept = "" if case.adaptive or case.optimizer.get("momentum") else "the optimizer keeps nothing"
    for kind in ("float16", "bfloat16"):
        yield f"{kind} moments", unkept or short_moments(kind)
