"""Divides the error probability of a comparison between fixed looks at the data, after which it may stop."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .bootstrap import Estimate
from .location import FloatArray
from .pairs import Ratio, deciding_interval, estimate_ratio
from .signed_rank import signed_rank_p
from .verdict import ALPHA, minimum_pairs

#: The rounds of one look over those of the look before, roughly.
GROWTH = 4 / 3
#: The most looks: each costs power.
MOST_LOOKS = 6

RoundArray = npt.NDArray[np.int64]


def looks(first: int, most: int, *, alpha: float = ALPHA) -> tuple[int, ...]:
    """Return the numbers of rounds after which verdicts are computed: ``first``, about 4/3 times as many, …, ``most``.

    The first look is later than ``first``, and there are fewer looks, where the test could not reach its share of
    ``alpha`` with so few pairs.
    """
    if most <= first:
        return (first,)
    while first < most and not attainable((first, most), alpha)[0]:
        first += 1
    wanted = min(MOST_LOOKS, max(2, 1 + round(np.log(most / first) / np.log(GROWTH))))
    for count in range(wanted, 1, -1):
        found = tuple(dict.fromkeys(round(x) for x in np.geomspace(first, most, count).tolist()))
        if all(attainable(found, alpha)):
            return found
    return (most,)


def attainable(looks: Sequence[int], alpha: float) -> list[bool]:
    """Return for each look whether the test can reach its share of ``alpha`` with one pair per round."""
    return [
        look >= minimum_pairs(alpha, share) if share > 0 else False
        for look, share in zip(looks, weights(looks).tolist(), strict=True)
    ]


def weights(looks: Sequence[int], most: int | None = None) -> FloatArray:
    """Return the share of the error probability that each look may spend; they sum to 1 where the last is ``most``.

    They are increments of the square of the share of the data, from the power family of spending functions (Kim &
    DeMets 1987).
    """
    spent = (np.array(looks, dtype=np.float64) / (looks[-1] if most is None else most)) ** 2
    return np.diff(spent, prepend=0.0)


def _reached(looks: Sequence[int], rounds_done: int, ended: bool) -> tuple[tuple[int, float], ...]:
    """Return each look that has been reached, with its share."""
    return _reached_of(tuple(looks), rounds_done, ended)


@functools.lru_cache(maxsize=256)
def _reached_of(looks: tuple[int, ...], rounds_done: int, ended: bool) -> tuple[tuple[int, float], ...]:
    # Kept, as thousands of comparisons have the same looks.
    taken = [look for look in looks if look <= rounds_done]
    if ended and 0 < rounds_done < looks[-1] and rounds_done not in taken:
        taken.append(rounds_done)
    return tuple(zip(taken, weights(taken, looks[-1]).tolist(), strict=True)) if taken else ()


def sequential_p(
    rounds: RoundArray, log_ratios: FloatArray, looks: Sequence[int], rounds_done: int, *, ended: bool = False
) -> float | None:
    """Return a p value that is valid although verdicts were computed several times; None before the first look.

    ``rounds`` is the round, from 0, of each pair; ``rounds_done`` is how many rounds have been measured. The p value is
    the smallest, over the looks, of the look's p value over its share of the error probability. This is a weighted
    Bonferroni correction: it is valid for every reason to stop, and can be adjusted by Holm or Benjamini-Hochberg. It
    never rises from look to look.

    ``ended`` adds a look where a run ended for a reason other than its results, such as its budget. Such a run must not
    be continued, as that would be one look too many.
    """
    found = [
        signed_rank_p(reached) / weight
        for look, weight in _reached(looks, rounds_done, ended)
        if len(reached := log_ratios[rounds < look])
    ]
    return min(1.0, *found) if found else None


def sequential_interval(
    rounds: RoundArray,
    log_ratios: FloatArray,
    looks: Sequence[int],
    rounds_done: int,
    *,
    ended: bool = False,
    alpha: float = ALPHA,
) -> tuple[float, float] | None:
    """Return the intersection of the intervals of all looks that have been reached.

    Each look has an interval at ``1 - alpha`` times its share. All of them together cover the ratio with at least
    ``1 - alpha``, and so does their intersection. It excludes equality where ``sequential_p`` is below ``alpha``. None
    where no look has enough pairs for an interval.
    """
    found = [
        interval
        for look, weight in _reached(looks, rounds_done, ended)
        if (interval := deciding_interval(log_ratios[rounds < look], 1.0 - alpha * weight)) is not None
    ]
    if not found:
        return None
    low, high = max(low for low, _ in found), min(high for _, high in found)
    # Where the intervals have nothing in common, the last one counts, as it has the most data.
    return (low, high) if low <= high else found[-1]


def sequential_ratio(
    rounds: RoundArray,
    log_ratios: FloatArray,
    looks: Sequence[int],
    rounds_done: int,
    *,
    ended: bool = False,
    shown: Estimate | None = None,
) -> Ratio | None:
    """Compare two cells as ``pairs.compare`` does, with the p value and deciding interval of the looks.

    The estimate and the interval that tables show are of all pairs; they are computed unless ``shown`` gives them. None
    without a pair.
    """
    if not len(log_ratios):
        return None
    p = sequential_p(rounds, log_ratios, looks, rounds_done, ended=ended)
    deciding = sequential_interval(rounds, log_ratios, looks, rounds_done, ended=ended)
    return Ratio(shown or estimate_ratio(log_ratios), 1.0 if p is None else p, deciding)
