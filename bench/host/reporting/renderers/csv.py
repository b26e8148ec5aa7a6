"""Writes CSV: plain numbers, and text that no spreadsheet computes."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from unicodedata import category

Value = str | float | int | None
T = TypeVar("T")

#: Text that is written as it is: most names and words.
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .:_/-]*")

#: A spreadsheet takes text that begins with one of these for a formula (OWASP, "CSV Injection"); those of East Asian
#: keyboards count, too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
#: The characters that steer a terminal or turn the direction of text; those of a table with lines and tabs stay.
KEPT = "\n\t"


def quote(value: Value) -> Value:
    """Return what is written: numbers as they are, text so that no spreadsheet computes it and no terminal obeys it."""
    return _quoted(value) if isinstance(value, str) else value


@functools.lru_cache(maxsize=4096)
def _quoted(value: str) -> str:
    # Kept, as most cells of a run have the same names, settings and versions.
    if PLAIN.fullmatch(value):
        return value
    # JSON can hold a lone surrogate; a file in UTF-8 cannot.
    text = value.encode("utf-8", "replace").decode("utf-8")
    # The writer leaves a carriage return unquoted, and a reader takes it for the end of the row.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isprintable():
        text = "".join("\ufffd" if category(one)[0] == "C" and one not in KEPT else one for one in text)
    return f"'{text}" if text.startswith(FORMULA) else text


def render(fields: Mapping[str, Callable[[T], Value]], rows: Iterable[T]) -> str:
    """Write a heading and a row for each of ``rows``; missing values are empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(fields)
    getters = tuple(fields.values())
    for row in rows:
        writer.writerow([quote(get(row)) for get in getters])
    return file.getvalue()
