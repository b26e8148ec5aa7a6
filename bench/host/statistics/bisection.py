"""Finds the first release at which a change holds, from pairs of releases that took turns: a noisy bisection.

The releases are numbered in their order. Every step follows from all pairs so far, so a bisection can be resumed, and
goes back to an earlier release where later pairs make its side doubtful. The model has one change of unknown size: the
releases before it are as fast as the first one, those from it on as fast as the last one. Where it came in several
steps, one of them is found. Its position has a posterior
distribution, with the same prior probability for every release (Karp & Kleinberg 2007 treat noisy bisection; Horstein
1963 the posterior).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import stopping
from .location import NORMAL_MAD, FloatArray
from .pairs import Ratio
from .signed_rank import exact_interval, walsh_averages
from .verdict import ALPHA, THRESHOLD

#: {(release, the release that it is compared with): log ratios of their pairs}
Pairs = Mapping[tuple[int, int], FloatArray]

#: The smallest change that is looked for: nearer to what matters than to equality, as in ``verdict.decide``.
SMALLEST = THRESHOLD / 2.0
#: Rounds after which the two ends are compared first, and at most; then those of the change with the release before it.
ENDS = (8, 40)
CONFIRMATION = (8, 40)
#: The fewest rounds of a release at once, and the most in all.
FEWEST, MOST = 3, 100
#: The variance of a Hodges-Lehmann estimate of few pairs with heavy tails, over that of the mean of normal ones.
INFLATION = 1.2
#: A release may lie off its level by about this share of the change: releases differ a little anyway.
OWN_SHARE = 1.0 / 8.0
#: A release with a smaller share of the change has none of it, and with fewer pairs none is said to have a part of it.
LEAST_SHARE, FEWEST_OF_PART = 1.0 / 4.0, 30
#: The least standard deviation of a pair that is believed: pairs that are equal by chance have none.
LEAST_SD = 1e-3


@dataclass(frozen=True)
class Measure:
    """Measure so many more pairs of a release with a reference."""

    release: int
    reference: int
    pairs: int


@dataclass(frozen=True)
class Change:
    """The first release with the change, and its ratio to the release before."""

    release: int
    ratio: Ratio


@dataclass(frozen=True)
class NoChange:
    """The last release does not differ from the first one as asked."""

    ratio: Ratio
    #: Whether the pairs show that there is none; otherwise they leave it open.
    settled: bool


@dataclass(frozen=True)
class Undecided:
    """The change lies after ``after`` and not after ``until``; more pairs would not place it better."""

    after: int
    until: int


Step = Measure | Change | NoChange | Undecided


def next_step(count: int, pairs: Pairs, *, faster: bool = False) -> Step:
    """Return what to measure next, or the end of the bisection over ``count`` releases, of which there are at least 2.

    ``faster`` looks for a release that became faster. The error probability of the whole is ``ALPHA``: half of it is
    for the ends, the other half is divided among the steps. At its end a change must also show between the release and
    the one before it, in pairs of the two.
    """
    if count < 2:
        raise ValueError(f"{count} releases have no change between them; give two or more")
    sign = -1.0 if faster else 1.0
    signed = {key: sign * values for key, values in pairs.items() if len(values)}
    last = count - 1
    ends = _sequential((last, 0), signed, ENDS, faster, SMALLEST)
    if not isinstance(ends, Ratio):
        return ends
    if not _holds(ends, faster, SMALLEST):
        return NoChange(ends, _excludes(ends, faster, SMALLEST))
    after, until, open_ = bracket(count, signed)
    if open_:
        return _more(open_, signed, count) or Undecided(after, until)
    if until - after > 1:
        middle = (after + until) // 2
        return _more([middle], signed, count) or Undecided(after, until)
    confirmed = _sequential((until, after), signed, CONFIRMATION, faster, 0.0)
    if not isinstance(confirmed, Ratio):
        return confirmed
    return Change(until, confirmed) if _holds(confirmed, faster) else Undecided(after, until)


def bracket_so_far(count: int, pairs: Pairs, *, faster: bool) -> Undecided | None:
    """Return between which releases the change lies, by the pairs of a bisection that goes no further.

    None where the two ends have not shown yet that there is a change.
    """
    sign = -1.0 if faster else 1.0
    signed = {key: sign * values for key, values in pairs.items() if len(values)}
    ends = _sequential((count - 1, 0), signed, ENDS, faster, SMALLEST)
    if not isinstance(ends, Ratio) or not _holds(ends, faster, SMALLEST):
        return None
    after, until, _ = bracket(count, signed)
    return Undecided(after, until)


def bracket(count: int, signed: Pairs) -> tuple[int, int, list[int]]:
    """Return the last release before the change for certain, the first one after it, and those measured between."""
    error = step_error(count)
    slow = np.cumsum(position_probabilities(count, signed))
    measured = sorted(release for release, reference in signed if reference == 0 and 0 < release < count - 1)
    after = max((m for m in measured if slow[m] <= error), default=0)
    sure = [m for m in measured if slow[m] >= 1.0 - error or (slow[m] > error and _differs(m, count, signed, error))]
    until = min(sure, default=count - 1)
    return after, until, sorted((m for m in measured if after < m < until), key=lambda m: abs(slow[m] - 0.5))


def _differs(release: int, count: int, signed: Pairs, error: float) -> bool:
    """Tell whether a release differs from the first one, although perhaps by less than the last one does.

    A change that came in several steps has releases between the two levels: an earlier step is then looked for.
    """
    values = signed[release, 0]
    interval = exact_interval(values, 1.0 - error) if len(values) >= FEWEST_OF_PART else None
    least = max(math.log1p(SMALLEST), LEAST_SHARE * centre(signed[count - 1, 0]))
    return interval is not None and interval[0] > 0.0 and centre(values) > least


def step_error(count: int) -> float:
    """Return the error probability of one step: of half of ``ALPHA``, its share."""
    return ALPHA / 2.0 / max(1, math.ceil(math.log2(max(2, count - 1))))


def position_probabilities(count: int, signed: Pairs) -> FloatArray:
    """Return the probability, for each release, that the change is between it and the release before; 0 for the first.

    ``signed`` has log ratios in which the change is positive.
    """
    last = count - 1
    variance = pair_variance(signed)
    size = centre(signed[last, 0])
    size_variance = variance / len(signed[last, 0])
    logs = np.zeros(count)
    positions = np.arange(count)
    for (release, reference), values in signed.items():
        if (release, reference) == (last, 0):
            continue
        differs = (reference < positions) & (positions <= release)
        own = variance / len(values) + (OWN_SHARE * size) ** 2
        found = centre(values)
        logs += np.where(differs, _log_density(found - size, own + size_variance), _log_density(found, own))
    logs[0] = -np.inf
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def pair_variance(signed: Pairs) -> float:
    """Return the variance with which one pair counts, from how far all pairs lie from the middle of their group."""
    residuals = [
        (values - np.median(values)) * math.sqrt(len(values) / (len(values) - 1.0))
        for values in signed.values()
        if len(values) > 2
    ]
    spread = NORMAL_MAD * float(np.median(np.abs(np.concatenate(residuals)))) if residuals else 0.0
    return INFLATION * max(spread, LEAST_SD) ** 2


def centre(values: FloatArray) -> float:
    """Return the Hodges-Lehmann estimate of pairs' log ratios."""
    return float(np.median(walsh_averages(values)))


def _log_density(deviation: float, variance: float) -> float:
    return -0.5 * (deviation * deviation / variance + math.log(variance))


def _more(releases: list[int], signed: Pairs, count: int) -> Measure | None:
    """Measure the first of the releases that may have more pairs: as many as its side is likely to need.

    The ends get as many pairs as the release that is open: the side depends on the size of the change, too.
    """
    ends = (count - 1, 0)
    size = centre(signed[count - 1, 0])
    gain = size**2 / (2.0 * pair_variance(signed))
    needed = math.log(1.0 / step_error(count)) / gain if gain > 0 else MOST
    for release in releases:
        done = len(signed.get((release, 0), ()))
        if done < MOST:
            if done > len(signed[ends]):
                return Measure(*ends, done - len(signed[ends]))
            wanted = max(FEWEST, math.ceil(needed) - done, math.ceil(done / 2))
            return Measure(release, 0, min(wanted, MOST - done))
    return None


def _sequential(
    key: tuple[int, int], signed: Pairs, rounds: tuple[int, int], faster: bool, least: float
) -> Measure | Ratio:
    """Compare a pair of releases by the looks of ``stopping``: more pairs until a look settles it.

    A look settles that there is a change of ``least``, or that there is none.
    """
    looks = stopping.looks(*rounds, alpha=ALPHA / 2.0)
    values = signed.get(key, np.empty(0))
    done = len(values)
    if done < looks[0]:
        return Measure(*key, looks[0] - done)
    # Pairs that were taken for another step may be more than the last look.
    taken = min(done, looks[-1])
    original = -values[:taken] if faster else values[:taken]
    found = stopping.sequential_ratio(np.arange(taken), original, looks, taken)
    assert found is not None
    deciding = stopping.sequential_interval(np.arange(taken), original, looks, taken, alpha=ALPHA / 2.0)
    found = Ratio(found.estimate, found.p, deciding)
    if _holds(found, faster, least) or _excludes(found, faster, least) or taken == looks[-1]:
        return found
    return Measure(*key, next(look for look in looks if look > taken) - taken)


def _holds(ratio: Ratio, faster: bool, least: float = 0.0) -> bool:
    """Tell whether the change is there, and is more than ``least``."""
    low, high = ratio.deciding or (0.0, math.inf)
    value = ratio.estimate.value
    return (high < 1.0 and value < 1.0 / (1.0 + least)) if faster else (low > 1.0 and value > 1.0 + least)


def _excludes(ratio: Ratio, faster: bool, least: float) -> bool:
    """Tell whether a change of ``least`` is excluded."""
    low, high = ratio.deciding or (0.0, math.inf)
    return low > 1.0 / (1.0 + least) if faster else high < 1.0 + least
