"""A made-up language in which every word of a message stands in ⟦brackets⟧, so that words from elsewhere show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from bench.host.reporting.words import template
from bench.host.reporting.words.labels import SHORT
from bench.host.reporting.words.language import Language, read

PLACEHOLDER = re.compile(r"(\{\w+\})")
WORD = re.compile(r"[^\W\d_]{2,}")
#: Units, and names of files and others that are the same in every language.
NAMES = frozenset(["ms", "µs", "ns", "MiB", "FLOP", "venv", "md", "table", "versions"])


def bracket(message: str) -> str:
    """Put a message into brackets without its placeholders, so that a value which is a word stands outside."""
    parts = PLACEHOLDER.split(message)
    return "".join(part if PLACEHOLDER.fullmatch(part) else f"⟦{part}⟧" for part in parts if part)


def make(folder: Path) -> Language:
    """Write the catalogue and read it. It is German by name, so that numbers have a decimal comma."""
    catalogue = Catalog(locale="de")
    for message in template.collect():
        if message.id:
            ids = [message.id] if isinstance(message.id, str) else message.id
            texts = tuple(map(bracket, ids))
            catalogue.add(message.id, texts if len(texts) > 1 else texts[0])
    path = folder / "de.po"
    with path.open("wb") as file:
        write_po(file, catalogue)
    return read(path)


def escaped(text: str, data: Iterable[object]) -> set[str]:
    """Return the words of ``text`` outside of the brackets that are not words of ``data`` either."""
    known = {word for value in (*data, *SHORT.values()) for word in WORD.findall(str(value))}
    return set(WORD.findall(re.sub("⟦[^⟧]*⟧", " ", text))) - known - NAMES
