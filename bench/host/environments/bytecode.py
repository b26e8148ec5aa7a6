"""Gives an environment its bytecode: copies it from a store where it fits, and compiles the rest.

Compiling four frameworks takes a minute; copying takes a second. An entry of the store belongs to one lock and one
interpreter. It lists the hash of each source and the hash of its bytecode. A source that differs from the list is
compiled. All sources get one and the same time, because Python compares it with the time in the bytecode.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..setup.caches import cache_folder, near_cache, same_file_system
from .interpreters import Interpreter

INDEX = "index.json"

# Part of the name of every entry. Raise it when entries are written differently.
LAYOUT = 2

# An entry that no build has used for so long is removed: its lock is probably gone.
KEPT_S = 60 * 24 * 3600

# The oldest time that a wheel, which is a zip file, can give its files: 1980-01-01.
SOURCE_TIME = 315532800

# A file of bytecode begins with a magic number, flags, and the source's time and size (PEP 552). With flags 0, Python
# compares time and size.
HEADER_BYTES = 16

# compileall ends with 1 when a source did not compile.
COMPILED = (0, 1)


@dataclass(frozen=True)
class BytecodeCount:
    """The number of sources by the origin of their bytecode."""

    copied: int
    compiled: int
    #: Some packages carry sources for other versions of Python.
    uncompilable: int


class _Source(NamedTuple):
    #: Path below the environment.
    name: str
    #: SHA-256 of its content.
    content: str

    def bytecode(self, cache_tag: str) -> str:
        folder, _, file = self.name.rpartition("/")
        return f"{folder}/__pycache__/{file[:-3]}.{cache_tag}.pyc"


def entry(folder: Path, interpreter: Interpreter, lock_hash: str) -> Path:
    """Return where the store keeps the bytecode of one lock and interpreter, on the file system of ``folder``."""
    usual = cache_folder("benchmatrix")
    base = usual if same_file_system(usual, folder) else near_cache(folder, "benchmatrix")
    key = f"{LAYOUT} {lock_hash} {interpreter.bytecode} {interpreter.cache_tag} {interpreter.version}"
    return base / "bytecode" / hashlib.sha256(key.encode()).hexdigest()[:32]


def provide(
    folder: Path, stored: Path | None, *, hashes: Mapping[str, str], cache_tag: str, processes: int
) -> BytecodeCount:
    """Give every source in ``folder`` its bytecode: copy what ``stored`` has, compile the rest and store it.

    ``hashes`` is {path below ``folder``: SHA-256} of every file.
    """
    sources = [_Source(name, each) for name, each in hashes.items() if _is_source(name, each)]
    for source in sources:
        os.utime(f"{folder}/{source.name}", (SOURCE_TIME, SOURCE_TIME))
    index = {} if stored is None else _read_index(stored)
    missing = sources if stored is None else _copy(sources, index, stored, folder, cache_tag)
    to_compile = [source for source in missing if not _known_uncompilable(source, index)]
    if to_compile:
        finished = _compile(folder, [source.name for source in to_compile], processes)
        if stored is not None and finished:
            _store(stored, folder, sources, cache_tag)
    compiled = [source for source in to_compile if (folder / source.bytecode(cache_tag)).is_file()]
    return BytecodeCount(len(sources) - len(missing), len(compiled), len(missing) - len(compiled))


def _is_source(name: str, content: str) -> bool:
    return name.startswith("lib/") and name.endswith(".py") and not content.startswith("-> ")


def _read_index(entry: Path) -> dict[str, Any]:
    try:
        index = json.loads((entry / INDEX).read_bytes())
        os.utime(entry)
    except (OSError, ValueError):
        return {}
    return index if isinstance(index, dict) else {}


def _stored_as(source: _Source, index: dict[str, Any]) -> list[Any] | None:
    """Return the entry of a source in the index; None where its content differs."""
    stated = index.get(source.name)
    if not isinstance(stated, list) or len(stated) != 2 or stated[0] != source.content:
        return None
    return stated if stated[1] is None or isinstance(stated[1], str) else None


def _known_uncompilable(source: _Source, index: dict[str, Any]) -> bool:
    stated = _stored_as(source, index)
    return stated is not None and stated[1] is None


def _copy(
    sources: Sequence[_Source], index: dict[str, Any], stored: Path, folder: Path, cache_tag: str
) -> list[_Source]:
    """Copy the stored bytecode of the sources, and return the sources for which there is none, or a damaged one."""
    missing, folders = [], set()
    for source in sources:
        stated = _stored_as(source, index)
        # Strings instead of Path objects, because there are ten thousand.
        target = f"{folder}/{source.bytecode(cache_tag)}"
        parent = target[: target.rindex("/")]
        if parent not in folders:
            os.makedirs(parent, exist_ok=True)
            folders.add(parent)
        if stated is None or stated[1] is None or not _copy_one(f"{stored}/{stated[1]}", target, stated[1]):
            missing.append(source)
    return missing


def _copy_one(stored: str, target: str, digest: str) -> bool:
    """Copy a stored file if its content has the hash ``digest``; return whether it was copied.

    A link would be quicker, but a program that writes to it would change the bytecode of every environment.
    """
    try:
        with open(stored, "rb", buffering=0) as file:
            content = file.read()
        if hashlib.sha256(content).hexdigest() != digest:
            return False
        with contextlib.suppress(FileNotFoundError):  # a few packages contain bytecode
            os.unlink(target)
        with open(target, "wb", buffering=0) as file:
            file.write(content)
    except OSError:
        return False
    return True


def _compile(folder: Path, names: Sequence[str], processes: int) -> bool:
    """Compile the named sources with the environment's own interpreter; return whether every compiler finished.

    Where one was killed, sources without bytecode may still be compilable.
    """
    # Each process gets about the same work: the sources are dealt out in turn, largest first.
    ordered = sorted(names, key=lambda name: (folder / name).stat().st_size, reverse=True)
    command = [str(folder / "bin" / "python"), "-I", "-m", "compileall", "-qq", "-f", "-i", "-"]
    command += ["--invalidation-mode", "timestamp"]
    running = []
    try:
        for number in range(max(1, processes)):
            share = ordered[number :: max(1, processes)]
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            running.append((process, "".join(f"{name}\n" for name in share)))
        for process, listed in running:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(listed.encode())
                process.stdin.close()
        return all(process.wait() in COMPILED for process, _listed in running)
    finally:
        for process, _listed in running:
            if process.poll() is None:
                process.kill()
                process.wait()


def _store(entry: Path, folder: Path, sources: Sequence[_Source], cache_tag: str) -> None:
    """Store the bytecode of ``folder`` as ``entry``; if that fails, the next build only takes longer."""
    staging = entry.with_name(f"{entry.name}.building-{os.getpid()}")
    try:
        staging.mkdir(parents=True)
        index: dict[str, tuple[str, str | None]] = {}
        for source in sources:
            size = (folder / source.name).stat().st_size
            index[source.name] = (source.content, _keep(folder / source.bytecode(cache_tag), size, staging))
        (staging / INDEX).write_text(json.dumps(index), encoding="utf-8")
        shutil.rmtree(entry, ignore_errors=True)
        os.rename(staging, entry)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
    _drop_old(entry.parent)


def _keep(bytecode: Path, source_size: int, staging: Path) -> str | None:
    """Write a file of bytecode into the store under its hash, and return the hash; None where it does not fit."""
    try:
        content = bytecode.read_bytes()
    except FileNotFoundError:
        return None
    stated = b"".join(number.to_bytes(4, "little") for number in (0, SOURCE_TIME, source_size & 0xFFFFFFFF))
    if content[4:HEADER_BYTES] != stated:
        return None
    name = hashlib.sha256(content).hexdigest()
    (staging / name).write_bytes(content)
    return name


def _drop_old(store: Path) -> None:
    oldest = time.time() - KEPT_S
    for entry in store.glob("*"):
        try:
            if entry.stat().st_mtime < oldest:
                shutil.rmtree(entry, ignore_errors=True)
        except OSError:
            continue
