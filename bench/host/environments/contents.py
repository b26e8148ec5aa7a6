"""Lists every file of an environment with its hash, and finds the files that changed since.

Comparing hashes reads gigabytes. So there is also one digest over size, times, inode and mode of all files. While it is
the same, no file was written, replaced, added or removed. A copied environment has another digest and equal hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..setup.staging import write_whole

LIST = "files.json"

#: Files in the folder of an environment that describe it and are not part of it.
ABOUT = frozenset(["manifest.json", LIST])

#: Names of changed files in one message.
SHOWN = 3


@dataclass(frozen=True)
class Extent:
    """The number of files of an environment, their bytes, and the digest over their facts."""

    files: int
    size_bytes: int
    digest: str


def measure(folder: Path) -> Extent:
    """Read the facts of all files, and of the interpreter that ``bin/python`` leads to; no file is opened."""
    lines: list[str] = []
    files = size_bytes = 0
    pending = [""]
    while pending:
        below = pending.pop()
        # Each run does this with every file: the kernel finds them faster by an open folder than by their paths.
        opened = os.open(f"{folder}/{below}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            with os.scandir(opened) as entries:
                for entry in entries:
                    name = below + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(f"{name}/")
                    elif name not in ABOUT:
                        facts = entry.stat(follow_symlinks=False)
                        files += 1
                        size_bytes += facts.st_size
                        lines.append(f"{name}\0{_facts(facts)}")
        finally:
            os.close(opened)
    lines.append(f"\0{_facts(os.stat(folder / 'bin' / 'python'))}")
    # Names may hold any byte, as those of packages do.
    text = "\n".join(sorted(lines)).encode(errors="surrogateescape")
    return Extent(files, size_bytes, hashlib.sha256(text).hexdigest())


def read(folder: Path, *, processes: int, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return {path below ``folder``: SHA-256 of its content}; a link has its target instead.

    ``known`` has the hashes of files that need not be read again.
    """
    names = [name for name, _entry in _walk(folder)]
    start = f"{folder}/"

    def hash_of(name: str) -> tuple[str, str]:
        if known is not None and name in known:
            return name, known[name]
        path = start + name
        if os.path.islink(path):
            return name, f"-> {os.readlink(path)}"
        with open(path, "rb", buffering=0) as file:
            return name, hashlib.file_digest(file, "sha256").hexdigest()

    with ThreadPoolExecutor(max(1, processes)) as pool:
        return dict(sorted(pool.map(hash_of, names)))


def store(folder: Path, hashes: Mapping[str, str]) -> str:
    """Write the list into the environment and return its own hash, which the manifest holds."""
    text = json.dumps(hashes, indent=0) + "\n"
    write_whole(folder / LIST, text)
    return hashlib.sha256(text.encode()).hexdigest()


def load(folder: Path, list_hash: str) -> dict[str, str]:
    """Return the stored list. Raises ValueError where it is not the one with this hash, and OSError."""
    content = (folder / LIST).read_bytes()
    if hashlib.sha256(content).hexdigest() != list_hash:
        raise ValueError(f"{folder / LIST} was changed")
    return dict(json.loads(content))


def changes(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """List the files that differ between two lists: changed, added or removed."""
    return sorted(name for name in {*then, *now} if then.get(name) != now.get(name))


def shown(names: list[str]) -> str:
    """Return the first names for a message, and the number of the others."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(map(ascii, names[:SHOWN]))}{more}"


def protect(folder: Path) -> None:
    """Take everybody's permission to write the files; folders stay writable, so that people can delete them."""
    for _name, entry in _walk(folder):
        if entry.is_file(follow_symlinks=False):
            mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
            os.chmod(entry.path, mode & ~0o222)


def _walk(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield every file and link below ``folder``; links to folders are not followed."""
    pending, start = [str(folder)], len(str(folder)) + 1
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.path[start:] not in ABOUT:
                    yield entry.path[start:], entry


def _facts(facts: os.stat_result) -> str:
    # The change time is among them: no program can set it, except by the machine's clock.
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino} {facts.st_mode}"
