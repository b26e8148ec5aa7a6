"""Decides whether two cells are different, equivalent or neither."""

from __future__ import annotations

import enum
import math

import numpy as np

from .location import FloatArray
from .pairs import Ratio

#: A difference smaller than this fraction has no practical meaning.
THRESHOLD = 0.02
ALPHA = 0.01
#: With a larger share of disturbed pairs nothing is called equivalent. A Hodges-Lehmann estimate tolerates 29 %.
DISTURBED = 0.25


class Verdict(enum.Enum):
    """What the data say about a ratio; a lack of evidence is never equivalence."""

    DIFFERENT = "different"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


def minimum_pairs(alpha: float = ALPHA, weight: float = 1.0) -> int:
    """Return the fewest pairs with which the exact two-sided test can reach ``alpha``: its smallest p value is 2¹⁻ⁿ.

    ``weight`` is the share of ``alpha`` that the test may spend, where the data are looked at several times.
    """
    return math.ceil(1.0 - math.log2(alpha * weight))


def discovery_p(ratio: Ratio, *, floor: float = 0.0) -> float:
    """Return the p value with which a comparison enters ``adjust_for_discovery``: 1 where none makes it *different*.

    So has one that tables withhold: it is among the comparisons, and helps no other to be called different.

    The procedure bounds the share of false ones among all that it passes. If some of these get no verdict *different*,
    since they are equivalent or their estimate is too small, the share among the others can be many times as large:
    where 40 cells differ by 0.8 % and 10 noisy ones are identical, one of these was called different in 5 % of tables,
    and nothing else was; now in 0.1 % (benchmarks/stopping_rules.py).
    """
    return ratio.p if decide(ratio, 0.0, floor=floor) is Verdict.DIFFERENT else 1.0


def adjust_for_discovery(p: FloatArray) -> FloatArray:
    """Adjust the p values of one table so that ``adjusted <= q`` bounds the share of false discoveries by ``q``.

    Benjamini & Hochberg 1995: the step-up procedure, as adjusted p values. It is for screening a table.
    """
    order = np.argsort(p)[::-1]
    ranks = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, p[order] * (len(p) / ranks)))
    return adjusted


def adjust_for_claims(p: FloatArray) -> FloatArray:
    """Adjust the p values of one family so that ``adjusted <= alpha`` bounds the chance of any false one by ``alpha``.

    Holm 1979: the step-down procedure, as adjusted p values; it is valid however the p values depend on each other. It
    is for claims about single comparisons.
    """
    order = np.argsort(p)
    ranks = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * ranks))
    return adjusted


def decide(ratio: Ratio, adjusted_p: float, *, practical: float = THRESHOLD, floor: float = 0.0) -> Verdict | None:
    """Give the verdict on a ratio, or None where there are too few pairs for one.

    ``practical`` and ``floor``, the run's measured noise floor, are fractions. The interval is the 99 % one, not the
    95 % one that a table shows.

    A ratio that is withheld is *inconclusive*: other programs may have made it.
    *Equivalent*: the interval lies inside 1/(1+practical) … 1+practical. It comes first, so that a precise
    measurement does not turn a difference without practical meaning into a finding. The margin is fixed, so that noise
    cannot create equivalence. Other programs on the processors must not create it, either: the time that both cells
    wait for them is the same, and makes a difference look smaller.
    *Different*: the test and the interval exclude equality, and the estimate is beyond the noise floor and nearer to
    ``practical`` than to equality.

    The estimate need not be beyond ``practical``: half of all measurements of a slowdown of exactly that size, however
    precise, estimate less (benchmarks/operating_characteristics.py). So *different* means that there is a difference,
    which may matter; the interval says how large it is. An estimate below half of ``practical`` is more likely a
    difference without practical meaning, which more pairs would show to be *equivalent*. Where waiting may have made
    the difference smaller, the verdict stays open: identical cells were measured 0.65 % apart in such pairs, with
    p = 0.0096.
    """
    if ratio.deciding is None:
        return None
    if ratio.withheld:
        return Verdict.INCONCLUSIVE
    low, high = ratio.deciding
    most = 1.0 + practical
    if low > 1.0 / most and high < most and ratio.disturbed <= DISTURBED:
        return Verdict.EQUIVALENT
    # After several looks the estimate is of more pairs than the interval, and must not point the other way.
    estimate = math.log(ratio.estimate.value)
    least = max(math.log1p(floor), math.log1p(practical) / 2.0)
    beyond = (low > 1.0 and estimate > least) or (high < 1.0 and estimate < -least)
    return Verdict.DIFFERENT if beyond and adjusted_p <= ALPHA else Verdict.INCONCLUSIVE


def settles_limit(ratio: Ratio, verdict: Verdict | None, limit: float) -> bool:
    """Tell whether a comparison settles that a cell is slower by more than ``limit``, a fraction, or is not.

    What is *different* is judged by its estimate. For all others the deciding interval must end at the limit or below:
    *equivalent* says "within ±2 %", and a limit may be smaller.
    """
    if verdict is Verdict.DIFFERENT:
        return True
    return verdict is not None and ratio.deciding is not None and ratio.deciding[1] <= 1.0 + limit
