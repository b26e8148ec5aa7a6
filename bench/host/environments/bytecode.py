"""Gives an environment its bytecode: links it from a store where it fits, and compiles the rest.

Compiling four frameworks takes a minute; linking takes a second. An entry of the store belongs to one lock and one
interpreter. It lists the size and time of each source, which Python compares before it uses bytecode, and the hash of
the bytecode. A source that differs from the list is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..setup.installer import cache_folder, near_cache, same_file_system
from .interpreters import Interpreter

INDEX = "index.json"

# An entry that no build has used for so long is removed: its lock is probably gone.
KEPT_S = 60 * 24 * 3600

# A file of bytecode begins with a magic number, flags, and the source's time and size (PEP 552). With flags 0, Python
# compares time and size.
HEADER_BYTES = 16

# compileall ends with 1 when a source did not compile.
COMPILED = (0, 1)


@dataclass(frozen=True)
class BytecodeCount:
    """The number of sources by the origin of their bytecode."""

    linked: int
    compiled: int
    #: Some packages carry sources for other versions of Python.
    uncompilable: int


class _Source(NamedTuple):
    #: Path below the environment.
    name: str
    size: int
    mtime: int

    def bytecode(self, cache_tag: str) -> str:
        folder, _, file = self.name.rpartition("/")
        return f"{folder}/__pycache__/{file[:-3]}.{cache_tag}.pyc"


def entry(folder: Path, interpreter: Interpreter, lock_hash: str) -> Path:
    """Return where the store keeps the bytecode of one lock and interpreter, on the file system of ``folder``."""
    usual = cache_folder("benchmatrix")
    base = usual if same_file_system(usual, folder) else near_cache(folder, "benchmatrix")
    key = f"{lock_hash} {interpreter.bytecode} {interpreter.cache_tag} {interpreter.version}"
    return base / "bytecode" / hashlib.sha256(key.encode()).hexdigest()[:32]


def provide(folder: Path, stored: Path | None, *, cache_tag: str, processes: int) -> BytecodeCount:
    """Give every source in ``folder`` its bytecode: link what ``stored`` has, compile the rest and store it."""
    sources = [_Source(*found) for found in _find_sources(folder)]
    index = {} if stored is None else _read_index(stored)
    missing = sources if stored is None else _link(sources, index, stored, folder, cache_tag)
    to_compile = [source for source in missing if not _known_uncompilable(source, index)]
    if to_compile:
        finished = _compile(folder, [source.name for source in to_compile], processes)
        if stored is not None and finished:
            _store(stored, folder, sources, cache_tag)
    compiled = [source for source in to_compile if (folder / source.bytecode(cache_tag)).is_file()]
    return BytecodeCount(len(sources) - len(missing), len(compiled), len(missing) - len(compiled))


def _find_sources(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield path below ``folder``, size and time of every source in ``folder/lib``; links are not followed."""
    pending = [str(folder / "lib")]
    start = len(str(folder)) + 1
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                elif entry.name.endswith(".py"):
                    facts = entry.stat()
                    yield entry.path[start:], facts.st_size, int(facts.st_mtime)


def _read_index(entry: Path) -> dict[str, Any]:
    try:
        index = json.loads((entry / INDEX).read_bytes())
        os.utime(entry)
    except (OSError, ValueError):
        return {}
    return index if isinstance(index, dict) else {}


def _facts(source: _Source, index: dict[str, Any]) -> list[Any] | None:
    """Return the entry of a source in the index; None where its size or time differs."""
    facts = index.get(source.name)
    if not isinstance(facts, list) or len(facts) != 3 or facts[:2] != [source.size, source.mtime]:
        return None
    return facts if facts[2] is None or isinstance(facts[2], str) else None


def _known_uncompilable(source: _Source, index: dict[str, Any]) -> bool:
    facts = _facts(source, index)
    return facts is not None and facts[2] is None


def _link(
    sources: Sequence[_Source], index: dict[str, Any], stored: Path, folder: Path, cache_tag: str
) -> list[_Source]:
    """Link the stored bytecode of the sources, and return the sources for which there is none, or a damaged one."""
    missing, folders = [], set()
    for source in sources:
        facts = _facts(source, index)
        # Strings instead of Path objects, because there are ten thousand.
        target = f"{folder}/{source.bytecode(cache_tag)}"
        parent = target[: target.rindex("/")]
        if parent not in folders:
            os.makedirs(parent, exist_ok=True)
            folders.add(parent)
        if facts is None or facts[2] is None or not _link_one(f"{stored}/{facts[2]}", target, facts[2]):
            missing.append(source)
    return missing


def _link_one(stored: str, target: str, digest: str) -> bool:
    """Link a stored file if its content has the hash ``digest``; return whether it was linked."""
    try:
        with open(stored, "rb", buffering=0) as file:
            if hashlib.sha256(file.read()).hexdigest() != digest:
                return False
        try:
            os.link(stored, target)
        except FileExistsError:  # a few packages contain bytecode
            os.unlink(target)
            os.link(stored, target)
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
        index: dict[str, tuple[int, int, str | None]] = {}
        for source in sources:
            name = _keep(folder / source.bytecode(cache_tag), source, staging)
            index[source.name] = (source.size, source.mtime, name)
        (staging / INDEX).write_text(json.dumps(index), encoding="utf-8")
        shutil.rmtree(entry, ignore_errors=True)
        os.rename(staging, entry)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
    _drop_old(entry.parent)


def _keep(bytecode: Path, source: _Source, staging: Path) -> str | None:
    """Link a file of bytecode into the store under its hash, and return the hash; None where it does not fit."""
    try:
        content = bytecode.read_bytes()
    except FileNotFoundError:
        return None
    stated = content[4:HEADER_BYTES]
    if stated != bytes(4) + (source.mtime & 0xFFFFFFFF).to_bytes(4, "little") + (source.size & 0xFFFFFFFF).to_bytes(
        4, "little"
    ):
        return None
    name = hashlib.sha256(content).hexdigest()
    if not (staging / name).exists():
        os.link(bytecode, staging / name)
    return name


def _drop_old(store: Path) -> None:
    oldest = time.time() - KEPT_S
    for entry in store.glob("*"):
        try:
            if entry.stat().st_mtime < oldest:
                shutil.rmtree(entry, ignore_errors=True)
        except OSError:
            continue
