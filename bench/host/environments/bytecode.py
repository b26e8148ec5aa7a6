"""Knows how an environment gets its bytecode: linked from a store where that is known to fit, compiled where it is not.

Compiling four frameworks takes a minute, linking what an earlier build compiled takes a second. An entry of the store
belongs to one lock and one interpreter, and lists for each source its size and time (what Python itself compares before
it uses a file of bytecode) and the hash of the bytecode. Whatever does not agree with the list is compiled.
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

# An entry that no build asked for in so long belongs to a lock that is gone.
KEPT_S = 60 * 24 * 3600

# In a file of bytecode, flags and the source's time and size precede the code (PEP 552); flags 0 mean that these hold.
HEADER_BYTES = 16

# compileall ends with 1 when a source did not compile.
COMPILED = (0, 1)


@dataclass(frozen=True)
class Outcome:
    """How many sources got their bytecode from where; some never compile, being made for other versions."""

    linked: int
    compiled: int
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


def provide(folder: Path, stored: Path | None, *, cache_tag: str, processes: int) -> Outcome:
    """Give every source in ``folder`` its bytecode: what ``stored`` has is linked, the rest is compiled and stored."""
    sources = [_Source(*found) for found in _find_sources(folder)]
    index = {} if stored is None else _read_index(stored)
    missing = sources if stored is None else _link(sources, index, stored, folder, cache_tag)
    to_compile = [source for source in missing if not _known_uncompilable(source, index)]
    if to_compile:
        finished = _compile(folder, [source.name for source in to_compile], processes)
        if stored is not None and finished:
            _store(stored, folder, sources, cache_tag)
    compiled = [source for source in to_compile if (folder / source.bytecode(cache_tag)).is_file()]
    return Outcome(len(sources) - len(missing), len(compiled), len(missing) - len(compiled))


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
    """Return what the index says of this very source."""
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
    """Link what the entry holds for these very sources, and return those for which it holds nothing sound."""
    missing, folders = [], set()
    for source in sources:
        facts = _facts(source, index)
        # Strings instead of Path objects: there are ten thousand of them to make.
        target = f"{folder}/{source.bytecode(cache_tag)}"
        parent = target[: target.rindex("/")]
        if parent not in folders:
            os.makedirs(parent, exist_ok=True)
            folders.add(parent)
        if facts is None or facts[2] is None or not _link_one(f"{stored}/{facts[2]}", target, facts[2]):
            missing.append(source)
    return missing


def _link_one(stored: str, target: str, digest: str) -> bool:
    """Link a stored file that is what its hash says; tell whether it was."""
    try:
        with open(stored, "rb", buffering=0) as file:
            if hashlib.sha256(file.read()).hexdigest() != digest:
                return False
        try:
            os.link(stored, target)
        except FileExistsError:  # a few packages come with bytecode of their own
            os.unlink(target)
            os.link(stored, target)
    except OSError:
        return False
    return True


def _compile(folder: Path, names: Sequence[str], processes: int) -> bool:
    """Compile the named sources with the environment's own interpreter; tell whether it got through all of them.

    A compiler that was killed leaves sources without bytecode that are not thereby known to have none.
    """
    # Largest first, dealt out in turn: each process gets about the same work.
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
    """Keep the bytecode of ``folder`` as ``entry``; where that fails, the next build takes longer, no more."""
    aside = entry.with_name(f"{entry.name}.building-{os.getpid()}")
    try:
        aside.mkdir(parents=True)
        index: dict[str, tuple[int, int, str | None]] = {}
        for source in sources:
            name = _keep(folder / source.bytecode(cache_tag), source, aside)
            index[source.name] = (source.size, source.mtime, name)
        (aside / INDEX).write_text(json.dumps(index), encoding="utf-8")
        shutil.rmtree(entry, ignore_errors=True)
        os.rename(aside, entry)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
    _drop_old(entry.parent)


def _keep(bytecode: Path, source: _Source, aside: Path) -> str | None:
    """Link one file of bytecode into the store under its hash, and return that; None where there is none that fits."""
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
    if not (aside / name).exists():
        os.link(bytecode, aside / name)
    return name


def _drop_old(store: Path) -> None:
    oldest = time.time() - KEPT_S
    for entry in store.glob("*"):
        try:
            if entry.stat().st_mtime < oldest:
                shutil.rmtree(entry, ignore_errors=True)
        except OSError:
            continue
