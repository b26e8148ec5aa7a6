"""Decides whether an exchanged component explains a change: Python, NumPy, a BLAS library, from pairs of processes."""

from __future__ import annotations

import enum
import math

import numpy as np

from . import stopping
from .bisection import ENDS
from .location import FloatArray
from .verdict import ALPHA


class Part(enum.Enum):
    """What an exchanged component has to do with a change."""

    #: With the component of before, the change is still there.
    NOT_IT = "not it"
    #: With the component of before, the change is gone.
    IT = "it"
    #: Some of it is, or the pairs leave it open.
    UNCLEAR = "unclear"


def judge_exchange(log_ratios: FloatArray, size: float) -> Part | int:
    """Judge the release with a component of before, by its pairs with the release before.

    ``size`` is the logarithm of the change. Where the whole interval is nearer to the change than to equality, the
    component does not explain it. Returns a number of pairs where so many more are needed.
    """
    looks = stopping.looks(*ENDS, alpha=ALPHA)
    taken = min(len(log_ratios), looks[-1])
    if taken < looks[0]:
        return looks[0] - taken
    share = log_ratios[:taken] / size
    interval = stopping.sequential_interval(np.arange(taken), share, looks, taken)
    if interval is not None:
        # The interval is of factors; of shares it is the logarithm.
        low, high = map(math.log, interval)
        if low > 0.5:
            return Part.NOT_IT
        if high < 0.5:
            return Part.IT
    return Part.UNCLEAR if taken == looks[-1] else next(look for look in looks if look > taken) - taken
