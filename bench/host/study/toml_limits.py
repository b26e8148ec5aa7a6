"""Limits what a study file may hold, so that reading one ends in time: its size, its depth, and its numbers.

nox reads a study file for ``nox -l``, so this needs the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

#: The file of a large study has 30 KiB.
LARGEST_BYTES = 256 << 10
#: Levels of tables and arrays.
DEEPEST = 16
#: Parts of a dotted key: the time to read one grows with their square.
MOST_PARTS = 32
#: Values of one table or array, and characters of one text.
MOST_VALUES, LONGEST_TEXT = 1000, 10_000
#: Other integers have no use here, and Python refuses to write very long ones.
LARGEST_INTEGER = 1 << 64
#: More threads than any machine has. Records hold no number as large as a person can write.
MOST_THREADS = 1 << 16

QUOTED = re.compile(r"""\"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'""")
NOT_OF_KEYS = re.compile(r"[^\w\"'. \t-]")


def verify_text(text: str) -> None:
    """Raise ValueError for a key of too many parts."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") >= MOST_PARTS:
            for piece in NOT_OF_KEYS.split(QUOTED.sub("s", line.partition("#")[0])):
                if len([part for part in piece.split(".") if part.strip()]) > MOST_PARTS:
                    raise ValueError(f"a key of more than {MOST_PARTS} parts (at line {number})")


def verify_tables(tables: dict[str, Any]) -> None:
    """Raise ValueError where the tables are deeper, longer or larger than any study is; the message says where."""
    left: list[tuple[str, Any, int]] = [("", tables, 0)]
    while left:
        place, value, depth = left.pop()
        if depth > DEEPEST:
            raise ValueError(f"{place[:100]}: nested too deeply; a study has at most {DEEPEST} levels")
        if isinstance(value, dict | list) and len(value) > MOST_VALUES:
            raise ValueError(f"{place[:100] or 'the file'}: {len(value):,} values; at most {MOST_VALUES:,} are read")
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise ValueError(f"{place[:100]}: a text of {len(value):,} characters; at most {LONGEST_TEXT:,} are read")
        if isinstance(value, int) and abs(value) >= LARGEST_INTEGER:
            raise ValueError(f"{place[:100]}: a number of {value.bit_length()} bits; at most 64 are read")
        left += [(f"{place}.{key}".lstrip("."), inner, depth + 1) for key, inner in _inner(value)]


def _inner(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key in value:
            if len(key) > LONGEST_TEXT:
                raise ValueError(f"a key of {len(key):,} characters")
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)
