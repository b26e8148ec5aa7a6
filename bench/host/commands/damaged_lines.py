"""Says on stderr which lines of a stored run were left out, in the same words for every command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import harmless

if TYPE_CHECKING:
    from ..storage.manifest import Manifest

#: Damaged lines of a run that are named.
MOST_PLACES = 5


def tell_of_run(described: Manifest, damaged: Sequence[str]) -> None:
    """Print how many lines of the run that ``described`` describes are damaged, as ``tell`` does."""
    tell(f"{described.run} {described.label!r}" if described.label else described.run, damaged)


def tell(name: str, damaged: Sequence[str]) -> None:
    """Print how many lines of the run ``name`` are damaged, and where; nothing where none is.

    Each of ``damaged`` begins with its place: ``records.jsonl:3: is not a whole object of JSON``.
    """
    if not damaged:
        return
    lines = counted(len(damaged), "damaged line was", "damaged lines were")
    places = ", ".join(line.split(": ")[0] for line in damaged[:MOST_PLACES])
    more = ", …" if len(damaged) > MOST_PLACES else ""
    print(harmless(f"{name}: {lines} left out ({places}{more})."), file=sys.stderr)
