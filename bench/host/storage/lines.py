"""Writes lines of JSON that carry a checksum, and reads them back: a damaged line is left out, with its place.

``{"cell": …, "checksum": "0a1b…"}``: the checksum is over the bytes of the line without it. It finds damage and edits
by hand; it does not protect against somebody who computes it anew. Files of earlier versions have no checksums. A line
without one after a line with one is damaged.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import math
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from ..refusal import Refused, naming

CHECKSUM = re.compile(rb', "checksum": "([0-9a-f]{16})"\}\s*$')
#: The ending of a file that gzip packed, as committed records are.
PACKED = ".gz"
#: A longer line is not one of ours.
LONGEST_LINE_BYTES = 64 << 20
#: Levels of lists and tables in a line.
DEEPEST = 20
CONTAINERS = frozenset({dict, list})


class NewerSchema(Refused, ValueError):
    """A newer benchmatrix wrote the file; the message says which file and what to do."""


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def sealed(values: Mapping[str, Any]) -> str:
    """Return the line of ``values``, with its checksum and its end."""
    return with_checksum(json.dumps(values))


def with_checksum(text: str) -> str:
    """Return the line of an object that is written as ``text``."""
    return f'{text[:-1]}, "checksum": "{_digest(text.encode())}"}}\n'


def append(path: Path, values: Mapping[str, Any], *, sync: bool) -> None:
    """Append the line of ``values`` to a file; a line that does not fit leaves no part behind. Raises OSError."""
    # Without a buffer: what it holds after an error would be written when it is closed.
    with path.open("ab", buffering=0) as file:
        start = os.fstat(file.fileno()).st_size
        left = sealed(values).encode()
        try:
            while left:
                left = left[file.write(left) :]
            if sync:
                os.fsync(file.fileno())
        except BaseException as error:
            # A part of the line would damage the next one, too. An interrupt of the sync leaves a whole line.
            if left or isinstance(error, OSError):
                with contextlib.suppress(OSError):
                    os.ftruncate(file.fileno(), start)
            raise


class StoredLines:
    """The lines of one file; ``damaged`` says of each line that was left out where it is and why.

    ``cut`` gets the last of them where the file ends before its end: within a line, or within what was packed. It also
    gets how many lines there are where they are fewer than ``fewest``.
    """

    def __init__(self, path: Path, damaged: list[str], cut: list[str] | None = None, fewest: int = 0) -> None:
        self._path = path
        self._damaged = damaged
        self._cut: list[str] = [] if cut is None else cut
        self._fewest = fewest
        self._sealed = False
        self._number = 0

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place and the values of each line; nothing where there is no file. Raises Refused."""
        with naming(self._path):
            try:
                mode = self._path.stat().st_mode
            except FileNotFoundError:
                return
            if not stat.S_ISREG(mode):
                raise Refused(f"{self._path}: is not a regular file. Move it away; then run the same again.")
            with gzip.open(self._path) if self._path.suffix == PACKED else self._path.open("rb") as file:
                for raw in self._lines(file):
                    self._number += 1
                    if not raw.strip():
                        continue
                    try:
                        values = self._read(raw)
                    except ValueError as error:
                        self.leave_out(str(error))
                        if not raw.endswith(b"\n"):
                            self._cut.append(self._damaged[-1])
                    else:
                        yield f"{self._path}:{self._number}", values
        if self._number < self._fewest:
            self._cut.append(f"it has {self._number} of {self._fewest} lines")

    def _lines(self, file: gzip.GzipFile | BufferedReader) -> Iterator[bytes]:
        try:
            yield from iter(lambda: file.readline(LONGEST_LINE_BYTES), b"")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            self._number += 1
            self.leave_out(f"the packed file is damaged from here on: {error}")
            self._cut.append(self._damaged[-1])

    def leave_out(self, why: str) -> None:
        """Note that the last line is left out."""
        self._damaged.append(f"{self._path.name}:{self._number}: {why}")

    def _read(self, raw: bytes) -> dict[str, Any]:
        """Return the values of a line; raises ValueError."""
        values = parsed(raw)
        found = CHECKSUM.search(raw)
        if found is None:
            if self._sealed:
                raise ValueError("the line has no checksum")
            return values
        self._sealed = True
        if _digest(raw[: found.start()] + b"}") != found[1].decode():
            raise ValueError("the line was changed after it was written")
        del values["checksum"]
        return values


def parsed(text: bytes | str) -> dict[str, Any]:
    """Return an object of JSON whose numbers are finite; raises ValueError for anything else."""
    try:
        values = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError:
        raise ValueError("is not a whole object of JSON") from None
    if not isinstance(values, dict):
        raise ValueError("is not an object of JSON")
    _verify_plain(values, DEEPEST)
    return values


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _verify_plain(value: dict[str, Any] | list[Any], levels: int) -> None:
    if not levels:
        raise ValueError("is nested too deeply")
    inner = value.values() if isinstance(value, dict) else value
    # A journal is mostly lists of thousands of whole numbers, of which the set of types is all that is looked at.
    types = set(map(type, inner))
    if float in types and any(isinstance(one, float) and math.isinf(one) for one in inner):
        raise ValueError("holds a number that is too large")
    if not CONTAINERS.isdisjoint(types):
        for one in inner:
            if isinstance(one, dict | list):
                _verify_plain(one, levels - 1)
