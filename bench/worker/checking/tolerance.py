"""Tells how far an output may be from its float64 reference, given the errors that NumPy makes in float32."""

from __future__ import annotations

from typing import Any

from ...cell import MIXED

#: Unit roundoffs: half the distance from 1 to the next number. TF32's is that of the factors of products. The integers
#: of 8 bits are steps of 1/127 of the largest value of a tensor, here four times its root mean square, of which half a
#: step is 2^-6.
ROUNDOFF = {
    "float64": 2.0**-53, "float32": 2.0**-24, "tf32": 2.0**-11, "float16": 2.0**-11, "bfloat16": 2.0**-8,
    MIXED: 2.0**-8, "int8": 2.0**-6,
}  # fmt: skip
#: The precisions with the smaller factor.
SHORT = ("tf32", "float16", "bfloat16", "int8", MIXED)
#: Other orders of summation, fused multiply-add and approximated transcendental functions stay below this factor.
TOLERANCE_FACTOR = 16.0
#: The factor of precisions that are shorter than float32 is smaller, so that a missing term of 10 % is found; no error
#: may exceed ``MOST_ERROR``.
SHORT_TOLERANCE_FACTOR = 3.0
MOST_ERROR = 0.1
#: An update in mixed precision may have a larger one; a parameter that stays as it is has 1. See ``rounding``.
MOST_MIXED_ERROR = 0.9
#: An error by eight last bits, divided by eight, is below that by one, unless a tie is decided otherwise. A program may
#: then have twice what that changes. A tie in resnet18-train/tiny, which none of 24 runs with one last bit decided
#: otherwise, and three of 24 with eight, made updates by TensorFlow's kernels on two threads 22 times what was allowed.
TIE_BITS = 8


def allowed_error(stored: Any, name: str, precision: str, factor: float) -> float:
    """Return the relative error that an output may have at a precision; ``stored`` is the opened reference."""
    if precision in SHORT:
        factor *= SHORT_TOLERANCE_FACTOR / TOLERANCE_FACTOR
    if precision == MIXED:
        return min(MOST_ERROR if name == "loss" else MOST_MIXED_ERROR, factor * float(stored["error/" + name]))
    # A float32 run with an exact result must not make the tolerance zero.
    single = max(float(stored["error/" + name]), ROUNDOFF["float32"])
    if precision == "float32":
        single = max(single, float(stored["tied/" + name]))
    return min(MOST_ERROR, factor * single * ROUNDOFF[precision] / ROUNDOFF["float32"])
