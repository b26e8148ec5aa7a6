"""Tells which names, and which cells, fit patterns such as ``mlp-*``."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable


def fits(name: str, pattern: str) -> bool:
    """Tell whether a name fits the pattern of an exclusion. With ``!`` before it, a pattern stands for all others."""
    return fnmatch.fnmatchcase(name, pattern.removeprefix("!")) != pattern.startswith("!")


def cell_fits(cell: object, by: object, names: Iterable[str]) -> bool:
    """Tell whether a cell matches the patterns of ``names``, each an attribute of ``by`` and of the cell."""
    given = ((str(getattr(cell, name)), getattr(by, name)) for name in names)
    return all(not wanted or any(fnmatch.fnmatchcase(value, one) for one in wanted) for value, wanted in given)
