"""Reads by which factor a claim says that something is better: ``>1``, ``>=1.78``, or ``>=4,<=5``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_CLAUSE = r" *(>=|<=|>|<) *([0-9]{1,9}(?:\.[0-9]{1,9})?) *"
PATTERN = rf"^{_CLAUSE}(,{_CLAUSE})?$"
#: What a message gives as the remedy.
REMEDY = "give by what factor: '>1' is better, '>=1' as good or better, '<1' worse, '>=4,<=5' between the two"


@dataclass(frozen=True)
class Limit:
    """One end of the range that a claim gives."""

    value: float
    #: Whether the factor must lie above it; below it otherwise.
    above: bool
    #: Whether the value itself belongs to the range.
    included: bool

    def log_beyond(self, practical: float) -> float:
        """Return the logarithm that a factor must be beyond for the claim to hold.

        A difference of ``practical``, a fraction, has no meaning: more than 1 is more than ``1 + practical``, and at
        least 1 is more than ``1 / (1 + practical)``.
        """
        margin = math.log1p(practical)
        return math.log(self.value) + (margin if self.above is not self.included else -margin)


def parse(text: str) -> tuple[Limit, ...]:
    """Return the limits that ``text`` gives, the lower one first; raises ValueError."""
    if re.fullmatch(PATTERN[1:-1], text) is None:
        raise ValueError(f"{text[:200]!r}: {REMEDY}.")
    clauses = (re.fullmatch(_CLAUSE, part) for part in text.split(","))
    found = [Limit(float(one[2]), one[1][0] == ">", one[1].endswith("=")) for one in clauses if one is not None]
    found.sort(key=lambda limit: not limit.above)
    if min(limit.value for limit in found) <= 0:
        raise ValueError(f"{text!r}: a factor is above 0.")
    if len(found) == 2 and (found[0].above == found[1].above or found[0].value >= found[1].value):
        raise ValueError(f"{text!r}: the two ends hold nothing between them; write for example '>=4,<=5'.")
    return tuple(found)


def checked(text: str) -> str:
    """Return ``text`` where it is a range; raises ValueError."""
    parse(text)
    return text
