"""Writes how many there are of something, for what commands print; the sentences of reports have ``ngettext``."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun, ``1 cell`` or ``2 cells``; the plural is ``many``, or ends in s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
