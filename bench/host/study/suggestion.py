"""Writes the message for an unknown name: the value, the nearest known name, and all known names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def unknown(kind: str, value: str, known: Iterable[str]) -> str:
    """Say that ``value`` is no ``kind``: ``unknown mode 'eagr'; did you mean 'eager'? Known: eager, jit.``

    The names are listed in the order given; the nearest is found without regard to case and to ``-``, ``_`` and spaces.
    """
    names = list(known)
    if not names:
        return f"unknown {kind} {value!r}: there is none to choose from."
    nearest = nearest_name(value, names)
    hint = "." if nearest is None else f"; did you mean {nearest!r}?"
    return f"unknown {kind} {value!r}{hint} Known: {', '.join(names)}."


def nearest_name(value: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to ``value``, or None where none is near enough to be meant."""
    literal = re.split(r"[*?\[]", value)[0]
    # Of a pattern, only what comes before its first wildcard can be compared.
    length = len(literal) if literal != value else None
    folded = {_fold(name)[:length]: name for name in known}
    close = difflib.get_close_matches(_fold(literal), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def _fold(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
