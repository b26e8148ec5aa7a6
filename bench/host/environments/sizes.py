"""Holds how much environments download and how much of the disk they take.

``locks/sizes.json`` has the figures of the locks beside it. Making a lock adds what its wheels take to download on the
machine that makes it. What they take on the disk was measured for the locks that come with benchmatrix.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging import tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from ..setup.staging import one_at_a_time, write_whole

FILE = "sizes.json"
#: An environment takes so many times its download on the disk: the least and the most of four frameworks. Large
#: libraries take twice as much, Python files several times, since compiled code is stored beside them.
LEAST, MOST = 2, 4
#: What takes less is told in megabytes.
SMALL = 1e8


@dataclass(frozen=True)
class Size:
    """What one environment takes; the disk is unknown where nobody measured it."""

    download_bytes: int
    disk_bytes: int | None = None

    @property
    def most_bytes(self) -> int:
        """Return the bytes of the disk, estimated from above where nobody measured them."""
        return MOST * self.download_bytes if self.disk_bytes is None else self.disk_bytes

    def __str__(self) -> str:
        most = self.most_bytes
        # The same unit throughout, and two digits of what is small.
        size, unit, digits = (1e9, "GB", 1) if most >= SMALL else (1e6, "MB", 0)
        least = f"{LEAST * self.download_bytes / size:.{digits}f} to " if self.disk_bytes is None else ""
        download, disk = f"{self.download_bytes / size:.{digits}f}", f"{least}{most / size:.{digits}f}"
        return f"up to {download} {unit} to download, {disk} {unit} on the disk"


def content_of(text: str) -> str:
    """Return the lines of a lock that say what is installed, without comments."""
    return "\n".join(line for line in text.splitlines() if line.strip() and not line.startswith("#"))


def content_hash(text: str) -> str:
    """Hash what a lock says is installed."""
    return hashlib.sha256(content_of(text).encode()).hexdigest()


def size_of(lock: Path) -> Size | None:
    """Return what the environment of a lock takes; None where nobody noted it for this state of the lock."""
    try:
        noted = json.loads((lock.parent / FILE).read_bytes())[lock.stem]
        if noted["content"] != content_hash(lock.read_text(encoding="utf-8")):
            return None
        return Size(int(noted["download_bytes"]), int(noted["disk_bytes"]) if "disk_bytes" in noted else None)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(lock: Path, download_bytes: int | None) -> None:
    """Note what the wheels of a lock that was just made take to download; None where that is unknown.

    What an environment takes on the disk stays, where it was measured for a lock that installs the same.
    """
    # Several environments are built at once.
    with one_at_a_time(lock.parent / f".{FILE}.lock"):
        _note(lock, download_bytes)


def _note(lock: Path, download_bytes: int | None) -> None:
    path = lock.parent / FILE
    try:
        known = dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        known = {}
    content = content_hash(lock.read_text(encoding="utf-8"))
    same = [one for one in known.values() if isinstance(one, dict) and one.get("content") == content]
    measured = next((one["disk_bytes"] for one in same if "disk_bytes" in one), None)
    known.pop(lock.stem, None)
    if download_bytes is not None:
        disk = {} if measured is None else {"disk_bytes": measured}
        known[lock.stem] = {"content": content, "download_bytes": download_bytes, **disk}
    write_whole(path, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def download_bytes(resolved: Mapping[str, Any], python: str) -> int | None:
    """Sum the wheels of uv's lock that this machine would download for a version of Python; None where one has no size.

    A package without a wheel for this machine counts nothing: it is for other platforms.
    """
    version = tuple(map(int, python.split(".")[:2]))
    order = [*tags.cpython_tags(version), *tags.compatible_tags(version)]
    rank = {tag: place for place, tag in enumerate(order)}
    total = 0
    for package in resolved.get("package", ()):
        fitting = list(_fitting(package.get("wheels", ()), rank))
        if fitting:
            size = min(fitting, key=lambda each: each[0])[1]
            if size is None:
                return None
            total += size
    return total


def _fitting(wheels: Sequence[Mapping[str, Any]], rank: Mapping[tags.Tag, int]) -> Iterator[tuple[int, int | None]]:
    """Yield (rank, size) of the wheels that this machine can install; a lower rank fits better."""
    for wheel in wheels:
        place = str(wheel.get("url") or wheel.get("path") or wheel.get("filename") or "")
        try:
            stated = parse_wheel_filename(place.rpartition("/")[2].replace("%2B", "+"))[3]
        except InvalidWheelFilename:
            continue
        ranks = [rank[tag] for tag in stated if tag in rank]
        if ranks:
            yield min(ranks), wheel.get("size")
