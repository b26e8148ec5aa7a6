"""Knows when two cells are called different, equivalent or neither."""

from __future__ import annotations

import enum
import math

import numpy as np

from .bootstrap import Estimate
from .location import FloatArray

#: A difference smaller than this fraction has no practical meaning; where a study knows its noise floor and that is
#: larger, ``decide`` is given the floor instead.
THRESHOLD = 0.02
ALPHA = 0.01


class Verdict(enum.Enum):
    """What the data say about a ratio. A lack of evidence is never called equivalence."""

    DIFFERENT = "different"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


def minimum_pairs(alpha: float = ALPHA) -> int:
    """Return the fewest pairs with which the exact two-sided test can reach ``alpha``: its smallest p value is 2¹⁻ⁿ."""
    return math.ceil(1.0 - math.log2(alpha))


def adjust_for_discovery(p: FloatArray) -> FloatArray:
    """Adjust the p values of one table so that ``adjusted <= q`` bounds the share of false discoveries by ``q``.

    Benjamini & Hochberg 1995: the step-up procedure as adjusted p values.
    """
    order = np.argsort(p)[::-1]
    ranks = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, p[order] * (len(p) / ranks)))
    return adjusted


def decide(ratio: Estimate, adjusted_p: float, *, threshold: float = THRESHOLD, alpha: float = ALPHA) -> Verdict | None:
    """Give the verdict on a ratio, or None where there are too few pairs for one.

    *Equivalent* comes first: an interval inside 1/(1+threshold) … 1+threshold is settled, however small its p value; a
    precise measurement must not turn a difference without practical meaning into a finding. *Different* needs an
    estimate outside that range besides: a significant one inside it says only that there is some difference.
    """
    if ratio.n < minimum_pairs(alpha) or ratio.low is None or ratio.high is None:
        return None
    least, most = 1.0 / (1.0 + threshold), 1.0 + threshold
    if ratio.low > least and ratio.high < most:
        return Verdict.EQUIVALENT
    matters = ratio.value <= least or ratio.value >= most
    return Verdict.DIFFERENT if matters and adjusted_p <= alpha else Verdict.INCONCLUSIVE
