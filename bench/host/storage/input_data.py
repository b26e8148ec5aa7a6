"""Gives workers the input data that a study names: unchanged, or converted once to an archive.

A worker has no library that decodes images. A specification that wants an archive therefore defines
``write_archive(folder, path, progress) -> ["name: reason" for what was left out]``, which the host calls.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.registry import BUILT_IN, Registry

from ..project import INPUT_DATA, STATE
from ..refusal import Refused
from ..setup import Announce
from . import source_files
from .file_names import slug

#: A conversion that takes longer than this announces its progress, at first and after every interval.
QUIET_S = 2.0
INTERVAL_S = 10.0
#: Files left out that are announced at most; the archive lists all of them.
NAMED = 10


class DataError(Refused):
    """The data cannot be used; the message says which, why and what to do."""


def resolve_all(
    paths: Mapping[str, Path | None], *, root: Path, announce: Announce, registry: Registry
) -> dict[str, str | None]:
    """Resolve the data of each workload of the project at ``root``, {workload: path}. Raises DataError."""
    folder = root / STATE / INPUT_DATA
    return {
        name: resolve(name, path, folder=folder, announce=announce, registry=registry) for name, path in paths.items()
    }


def resolve(
    workload: str, path: Path | None, *, folder: Path, announce: Announce, registry: Registry = BUILT_IN
) -> str | None:
    """Return the path that a worker gets for the data of a workload, None where the study names none.

    A folder for a workload that wants an archive is converted into ``folder`` unless that was done before. Raises
    DataError for a path that does not exist and for a folder that cannot be converted.
    """
    if path is None:
        return None
    if not path.exists():
        raise DataError(f"workload {workload!r}: data {path} does not exist. Correct the path, or remove data.")
    specification = registry.specification(workload)
    if not hasattr(specification, "write_archive") or not path.is_dir():
        return str(path)
    try:
        archive = folder / f"{slug(path.resolve().name)}-{_fingerprint(registry, workload, path)}.npz"
        if not archive.exists():
            _convert(specification, path, archive, announce)
    except (OSError, ValueError) as error:
        raise DataError(f"workload {workload!r}: data {path} cannot be converted: {error}") from error
    return str(archive)


def state_of(path: Path) -> str:
    """Return the name, size and time of a file, or of each file in a folder and in its folders."""
    files = sorted([*path.glob("*"), *path.glob("*/*")]) if path.is_dir() else [path]
    states = ((file.relative_to(path), file.stat()) for file in files if file.exists())
    return "".join(f"{name}/{state.st_size}/{state.st_mtime_ns}\n" for name, state in states)


def _fingerprint(registry: Registry, workload: str, path: Path) -> str:
    """Hash the code that makes an archive, and the name, size and time of each file in it."""
    hashed = hashlib.sha256(workload.encode())
    hashed.update(source_files.digest(registry, source_files.of_specification(registry, workload)).encode())
    for file in sorted([*path.glob("*"), *path.glob("*/*")]):
        # Decoding reports a link that leads nowhere.
        state = file.stat() if file.exists() else file.lstat()
        hashed.update(os.fsencode(file.relative_to(path)) + f"\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return hashed.hexdigest()[:16]


def _convert(specification: Any, path: Path, archive: Path, announce: Announce) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    partial = archive.with_name(f"{archive.name}.partial-{os.getpid()}")
    try:
        left_out = specification.write_archive(str(path), str(partial), _Progress(path, announce))
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)
    for line in left_out[:NAMED]:
        announce(f"{path}: left out {line}")
    if len(left_out) > NAMED:
        announce(f"{path}: left out {len(left_out) - NAMED:,} more, which {archive} lists under 'unreadable'")


class _Progress:
    """Announces the progress of a long conversion."""

    def __init__(self, path: Path, announce: Announce, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._announce = announce
        self._clock = clock
        self._next = clock() + QUIET_S

    def __call__(self, done: int, total: int) -> None:
        if self._clock() >= self._next:
            self._announce(f"{self._path}: converting its files, once: {done:,} of {total:,}")
            self._next = self._clock() + INTERVAL_S
