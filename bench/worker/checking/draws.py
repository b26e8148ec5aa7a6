"""Compares random draws with the distribution that they should have, as no reference has their values.

Draws become uniform on [0, 1) by their distribution function. Differences and sums of independent uniform draws are
uniform modulo 1, too, and so are fine digits. The largest distance of an empirical distribution function of n draws
from the right one exceeds ε with a probability of 2 exp(-2nε²) at most, for every n (Massart 1990). ``FALSE_ALARM``
gives ε.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

#: The probability that a right generator fails at all. A study of a million cells has a false alarm
#: once in a thousand times.
FALSE_ALARM = 1e-9
#: At most this many draws are compared: half of them the first, half the last.
MOST_COMPARED = 1 << 20
#: Fine digits are those below one part in so many. Generators have 23 bits and more.
FINE = 1 << 10
DISTRIBUTIONS = ("uniform", "normal")


def expected(distribution: str, count: int) -> Any:
    """Return what a specification gives as the reference of an output that is ``count`` random draws."""
    if distribution not in DISTRIBUTIONS:
        raise ValueError("distribution {!r}; known: {}".format(distribution, ", ".join(DISTRIBUTIONS)))
    return np.array([distribution, str(count)])


def are_expected(reference: Any) -> bool:
    """Tell whether a stored reference is that of random draws."""
    return bool(reference.dtype.kind == "U")


def compared(value: Any) -> Any:
    """Return the draws that are compared, in float64: an even number of them."""
    flat = np.asarray(value, np.float64).ravel()
    half = min(flat.size, MOST_COMPARED) // 2
    return np.concatenate([flat[:half], flat[flat.size - half :]])


def uniform(distribution: str, values: Any) -> Any:
    """Apply the distribution function."""
    if distribution == "uniform":
        return values
    return np.fromiter(map(math.erfc, (values * -math.sqrt(0.5)).tolist()), np.float64, values.size) / 2


def distance(values: Any) -> float:
    """Return the largest distance of the empirical distribution function from that of uniform draws on [0, 1)."""
    if not np.all((values >= 0) & (values <= 1)):
        return float("inf")
    ascending, ranks = np.sort(values), np.arange(values.size + 1) / values.size
    return float(max((ranks[1:] - ascending).max(), (ascending - ranks[:-1]).max()))


def before(name: str, outputs: Dict[str, Any]) -> Optional[Any]:
    """Return what the output ``draws[1]`` was for the batch before, ``draws[0]``; None for the first batch."""
    output, _, index = name.rstrip("]").rpartition("[")
    return outputs.get("{}[{}]".format(output, int(index) - 1))


def judge(reference: Any, value: Any, other: Optional[Any] = None, *, sample: Optional[Any] = None) -> Dict[str, float]:
    """Return the largest distance of draws, and how large chance may make it.

    ``other`` is what the same output was for another batch: draws that are remembered, or start anew, are found.
    ``sample`` is the part of ``value`` that is compared; all of it without one.
    """
    if np.shape(value) != (int(reference[1]),):
        return {"error": float("inf"), "allowed": 1.0}
    values = compared(value if sample is None else sample)
    if not np.all(np.isfinite(values)):
        return {"error": float("inf"), "allowed": 0.5}
    drawn = uniform(str(reference[0]), values)
    first, second, half = drawn[::2], drawn[1::2], drawn.size // 2
    shown = [drawn, values * FINE % 1, (first - second) % 1, (first + second) % 1, (drawn[:half] - drawn[half:]) % 1]
    if other is not None and np.shape(other) == np.shape(value):
        shown.append((drawn - uniform(str(reference[0]), compared(other))) % 1)
    # Differences are half as many, and have a bound of their own; the worst is the largest share of a bound.
    bounds = [math.sqrt(math.log(2 * len(shown) / FALSE_ALARM) / (2 * one.size)) for one in shown]
    error, allowed = max(zip(map(distance, shown), bounds), key=lambda pair: pair[0] / pair[1])
    return {"error": error, "allowed": allowed}


def describe(name: str, found: Dict[str, float], reference: Any, value: Any) -> str:
    """Say how draws differ from what is expected."""
    distribution, count = str(reference[0]), int(reference[1])
    if found["allowed"] == 1.0:
        return "{}: shape {}, expected {}".format(name, np.shape(value), (count,))
    if found["error"] == float("inf"):
        return "{} are not {} draws: some are not finite, or outside of the range".format(name, distribution)
    return "{} are not independent {} draws: a distribution function is {:.2g} away; {:.2g} is allowed".format(
        name, distribution, found["error"], found["allowed"]
    )
