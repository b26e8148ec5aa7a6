"""Writes the message for an unknown name: the value, the nearest known name, and all known names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

#: Characters of a value, and names of a list, that a message shows; and names that are compared with a value.
LONGEST, MOST_NAMES, MOST_COMPARED = 200, 100, 300
#: Names that are listed where one of them is suggested: a list of a screen would hide the suggestion.
MOST_BESIDE = 20


def unknown(kind: str, value: str, known: Iterable[str]) -> str:
    """Say that ``value`` is no ``kind``: ``unknown mode 'eagr'; did you mean 'eager'? Known: eager, jit.``

    The names are listed in the order given; the nearest is found without regard to case and to ``-``, ``_`` and spaces.
    """
    names = list(known)
    shown = value if len(value) <= LONGEST else f"{value[:LONGEST]} …"
    if not names:
        return f"unknown {kind} {shown!r}: there is none to choose from."
    nearest = nearest_name(value, names)
    hint = "." if nearest is None else f"; did you mean {nearest!r}?"
    most = MOST_NAMES if nearest is None else MOST_BESIDE
    more = f", … ({len(names) - most} more)" if len(names) > most else ""
    return f"unknown {kind} {shown!r}{hint} Known: {', '.join(names[:most])}{more}."


def shown(value: Any) -> str:
    """Write a value, cut where it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def nearest_name(value: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to ``value``, or None where none is near enough to be meant.

    Long values and long lists have none: comparing them takes long.
    """
    names = list(known)
    if len(value) > LONGEST or len(names) > MOST_COMPARED:
        return None
    literal = re.split(r"[*?\[]", value)[0]
    # Of a pattern, only what comes before its first wildcard can be compared.
    length = len(literal) if literal != value else None
    folded = {_fold(name)[:length]: name for name in names}
    close = difflib.get_close_matches(_fold(literal), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def _fold(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
