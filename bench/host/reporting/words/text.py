"""Writes text that comes from elsewhere on one line, short and without control characters, and joins clauses."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

#: Stands where there is no value.
EMPTY = "–"
#: Words of a sentence or a note of the first table, and of a paper's.
MOST_WORDS = 20


def printable(text: str) -> str:
    """Return ``text`` on one line, without characters that steer a terminal or a page instead of showing on it."""
    if text.isprintable():
        return " ".join(text.split())
    visible = (
        " " if character.isspace() else "\ufffd" if unicodedata.category(character)[0] == "C" else character
        for character in text
    )
    return " ".join("".join(visible).split())


def shorten(text: str, length: int = 240) -> str:
    """Cut ``text`` to about ``length`` characters at a word, for a footnote; the records keep all of it."""
    text = printable(text)
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0] + " …"


def first_words(text: str) -> str:
    """Keep the first words of a line that has more than ``MOST_WORDS``."""
    words = text.split(" ")
    return text if len(words) <= MOST_WORDS else " ".join(words[: MOST_WORDS - 1]) + " …"


def sentence(parts: Iterable[str]) -> str:
    """Join clauses to a sentence, leaving out empty ones."""
    return "; ".join(part for part in parts if part) + "."
