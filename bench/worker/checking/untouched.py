"""Detects a program whose steps write to their inputs, which the steps after them read.

A sort in place gives right outputs, and every later step sorts what is sorted. So the inputs of the first batch are
compared with what was drawn, where the framework's arrays can be written to. Of large ones some rows are compared.
"""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

import numpy as np

from .comparison import relative_error
from .late import part, writable
from .parity import Mismatch
from .projection import sampled
from .tolerance import ROUNDOFF

#: In units of the roundoff: what an adapter rounds differently is no write.
ROUNDED = 4.0


def kept(batch: Sequence[Any]) -> List[Any]:
    """Copy what is compared later of the arrays of a batch, as they were drawn."""
    return [np.array(sampled(array)) for array in batch]


def verify(batch: Sequence[Any], drawn: Sequence[Any], precision: str, get: Callable[[Any], Any]) -> None:
    """Raise Mismatch where an array of ``batch``, which steps have read, is not what ``kept`` returned of it."""
    for place, (array, expected) in enumerate(zip(batch, drawn)):
        if writable(array) and not relative_error(part(array, get), expected) <= ROUNDED * ROUNDOFF[precision]:
            raise Mismatch(
                "a step writes to input {} of its batch, which later steps read: compute in a copy, or in a buffer of "
                "the program's own".format(place)
            )
