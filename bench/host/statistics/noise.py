"""Computes the noise floor of a run: how far apart identical cells are, from a column that was measured twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from .bootstrap import SEED
from .location import FloatArray
from .signed_rank import walsh_averages
from .verdict import minimum_pairs

QUANTILE = 0.99
#: Sign flips of one row's pairs.
FLIPS = 1000


@dataclass(frozen=True)
class NoiseFloor:
    """The 99% quantile of |ratio - 1| between identical cells; a smaller difference gets no verdict *different*."""

    #: As a fraction: the larger of the two below.
    value: float
    #: The quantile that chance alone gives, from the pairs of the twins.
    expected: float
    #: The quantile of the twins' own ratios: the largest, as long as there are fewer than 100.
    observed: float
    #: Rows behind it, and the fewest and most pairs in any of them.
    comparisons: int
    fewest_pairs: int
    most_pairs: int


def flipped_estimates(log_ratios: FloatArray) -> FloatArray:
    """Return Hodges-Lehmann estimates of the pairs with random signs: the estimates of identical cells by chance.

    It is arbitrary which of two identical processes is called the twin, so both signs are equally likely.
    """
    signs = np.random.default_rng((SEED, len(log_ratios))).choice((-1.0, 1.0), (FLIPS, len(log_ratios)))
    return np.asarray(np.median(walsh_averages(signs * log_ratios), axis=-1))


def noise_floor(twins: Sequence[FloatArray]) -> NoiseFloor | None:
    """Estimate the noise floor from the pairs' log ratios of each row of the study, the same cell under two names.

    Every row has the same weight. Flipping the signs of the pairs, which keeps their sizes, measures chance; it is
    widened as Student's quantile is for this number of pairs. Flips cannot show a twin that differed throughout the
    run; its own estimate does. One bad pair moves neither, since the estimate is robust. None where no row has the
    pairs that a verdict needs.
    """
    enough = [log_ratios for log_ratios in twins if len(log_ratios) >= minimum_pairs()]
    if not enough:
        return None
    flipped = np.abs(np.concatenate([flipped_estimates(log_ratios) for log_ratios in enough]))
    own = np.abs([np.median(walsh_averages(log_ratios)) for log_ratios in enough])
    pairs = [len(log_ratios) for log_ratios in enough]
    above = (1.0 + QUANTILE) / 2.0
    widening = float(special.stdtrit(sum(pairs), above) / special.ndtri(above))
    expected = math.expm1(widening * float(np.quantile(flipped, QUANTILE)))
    observed = math.expm1(float(np.quantile(own, QUANTILE, method="higher")))
    return NoiseFloor(max(expected, observed), expected, observed, len(enough), min(pairs), max(pairs))
