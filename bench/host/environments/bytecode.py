"""Gives an environment its bytecode: copies it from a store where it fits, and compiles the rest.

Compiling four frameworks takes a minute; copying takes a second. A store belongs to one interpreter, and all its
environments share it: PyTorch's 2,500 sources are the same in an environment with Lightning. A stored file belongs to
one source, at one place in an environment. All sources get one and the same time, because Python compares it with the
time in the bytecode.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..setup.caches import cache_folder, near_cache, same_file_system
from .interpreters import Interpreter

# Part of the name of every store. Raise it when stored files are written differently.
LAYOUT = 3

# A stored file that no build has used for so long is removed: its package is probably gone.
KEPT_S = 60 * 24 * 3600

# The oldest time that a wheel, which is a zip file, can give its files: 1980-01-01.
SOURCE_TIME = 315532800

# A file of bytecode begins with a magic number, flags, and the source's time and size (PEP 552). With flags 0, Python
# compares time and size.
HEADER_BYTES = 16

# A stored file begins with the SHA-256 of the bytecode that follows. None follows where a source does not compile.
DIGEST_BYTES = 32

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
    #: Path below the environment. Bytecode contains it.
    name: str
    #: SHA-256 of its content.
    content: str

    def bytecode(self, cache_tag: str) -> str:
        folder, _, file = self.name.rpartition("/")
        return f"{folder}/__pycache__/{file[:-3]}.{cache_tag}.pyc"

    @property
    def stored(self) -> str:
        """The name of its bytecode in a store."""
        return hashlib.sha256(f"{self.content} {self.name}".encode()).hexdigest()


def store_of(folder: Path, interpreter: Interpreter) -> Path:
    """Return where the bytecode of one interpreter is kept, on the file system of ``folder``."""
    usual = cache_folder("benchmatrix")
    base = usual if same_file_system(usual, folder) else near_cache(folder, "benchmatrix")
    key = f"{LAYOUT} {interpreter.bytecode} {interpreter.cache_tag} {interpreter.version}"
    return base / "bytecode" / hashlib.sha256(key.encode()).hexdigest()[:32]


def provide(
    folder: Path, store: Path | None, *, hashes: Mapping[str, str], cache_tag: str, processes: int
) -> BytecodeCount:
    """Give every source in ``folder`` its bytecode: copy what ``store`` has, compile the rest and store it.

    ``hashes`` is {path below ``folder``: SHA-256} of every file.
    """
    sources = [_Source(name, each) for name, each in hashes.items() if _is_source(name, each)]
    for source in sources:
        os.utime(f"{folder}/{source.name}", (SOURCE_TIME, SOURCE_TIME))
    missing, uncompilable = (sources, 0) if store is None else _copy(sources, store, folder, cache_tag)
    if missing:
        finished = _compile(folder, [source.name for source in missing], processes)
        if store is not None and finished:
            _store(store, folder, missing, cache_tag)
    compiled = sum((folder / source.bytecode(cache_tag)).is_file() for source in missing)
    copied = len(sources) - len(missing) - uncompilable
    return BytecodeCount(copied, compiled, len(sources) - copied - compiled)


def _is_source(name: str, content: str) -> bool:
    return name.startswith("lib/") and name.endswith(".py") and not content.startswith("-> ")


def _copy(sources: Sequence[_Source], store: Path, folder: Path, cache_tag: str) -> tuple[list[_Source], int]:
    """Copy the stored bytecode of the sources.

    Return the sources for which there is none, or a damaged one, and how many others are known not to compile.
    """
    missing, uncompilable, folders = [], 0, set()
    for source in sources:
        # Strings instead of Path objects, because there are ten thousand.
        target = f"{folder}/{source.bytecode(cache_tag)}"
        parent = target[: target.rindex("/")]
        if parent not in folders:
            os.makedirs(parent, exist_ok=True)
            folders.add(parent)
        bytecode = _stored(f"{store}/{source.stored}")
        if bytecode == b"":
            uncompilable += 1
        elif bytecode is None or not _write(target, bytecode):
            missing.append(source)
    return missing, uncompilable


def _stored(path: str) -> bytes | None:
    """Return the bytecode in a stored file; None where there is no such file, or a damaged one."""
    try:
        with open(path, "rb", buffering=0) as file:
            content = file.read()
        os.utime(path)
    except OSError:
        return None
    digest, bytecode = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return bytecode if hashlib.sha256(bytecode).digest() == digest else None


def _write(target: str, bytecode: bytes) -> bool:
    """Write a file of bytecode; return whether that was possible.

    A link would be quicker, but a program that writes to it would change the bytecode of every environment.
    """
    try:
        with contextlib.suppress(FileNotFoundError):  # a few packages contain bytecode
            os.unlink(target)
        with open(target, "wb", buffering=0) as file:
            file.write(bytecode)
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


def _store(store: Path, folder: Path, sources: Sequence[_Source], cache_tag: str) -> None:
    """Store the bytecode of sources that were compiled in ``folder``; if that fails, the next build takes longer."""
    staging = store.with_name(f"{store.name}.building-{os.getpid()}")
    try:
        staging.mkdir(parents=True)
        store.mkdir(exist_ok=True)
        for source in sources:
            bytecode = _fitting(folder / source.bytecode(cache_tag), (folder / source.name).stat().st_size)
            if bytecode is not None:
                (staging / source.stored).write_bytes(hashlib.sha256(bytecode).digest() + bytecode)
                os.replace(staging / source.stored, store / source.stored)
    except OSError:
        pass
    shutil.rmtree(staging, ignore_errors=True)
    _drop_old(store)


def _fitting(path: Path, source_size: int) -> bytes | None:
    """Return the bytecode of a source: empty where it did not compile, None where it has another time or size."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return b""
    stated = b"".join(number.to_bytes(4, "little") for number in (0, SOURCE_TIME, source_size & 0xFFFFFFFF))
    return content if content[4:HEADER_BYTES] == stated else None


def _drop_old(store: Path) -> None:
    """Remove the files of a store that no build has used, and the stores of interpreters that none has."""
    oldest = time.time() - KEPT_S
    for path in (*store.parent.glob("*"), *store.glob("*")):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
