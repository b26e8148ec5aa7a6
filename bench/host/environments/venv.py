"""Builds an environment from its lock, or uses one that still fits."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..setup.installer import (
    Installation,
    NoInstaller,
    find_uv,
    install_with_pip,
    install_with_uv,
    repoint,
)
from ..setup.staging import exclusive, replacement, write_whole
from ..setup.tool import ToolFailed
from . import bytecode, locks
from .interpreters import Interpreter, NoInterpreter, Rejected, ask, find
from .locks import Buildable
from .outcome import Impossible, Prepared, folder_of, ready

Announce = Callable[[str], None]

MANIFEST = "manifest.json"

# Raise it when environments are built differently: those of another layout are built again.
LAYOUT = 1


def prepare(environment: Buildable, *, root: Path, announce: Announce) -> Prepared:
    """Return the environment; build it where it is missing or differs from its lock.

    Raises Impossible, locks.LockError, ToolFailed and OSError.
    """
    name, python = environment.name, environment.python
    if python is None:
        raise Impossible(f'environment {name!r} has no python; set it in its table, for example python = "3.11"')
    lock = locks.present(name, environment.requirements, python, root=root, announce=announce)
    place = folder_of(root) / name
    with exclusive(place, announce) as hold:
        manifest = _reusable(place, environment, locks.lock_hash(lock))
        if manifest is None:
            manifest = _build(place, environment, lock, root=root, hold=hold, announce=announce)
    return ready(name, (str(place / "bin" / "python"),), manifest)


def _reusable(place: Path, environment: Buildable, lock_hash: str) -> dict[str, Any] | None:
    """Return the manifest of the environment at ``place`` if it is undamaged and fits; None otherwise."""
    try:
        manifest = json.loads((place / MANIFEST).read_bytes())
        stated = (manifest["layout"], manifest["lock_hash"], manifest["asked_for"])
        if stated != (LAYOUT, lock_hash, environment.interpreter):
            return None
        if (manifest["files"], manifest["size_bytes"]) != _extent(place):
            return None
        answer = ask(str(place / "bin" / "python"))
        if answer["version"] != manifest["interpreter"]["version"]:
            return None
    except (OSError, ValueError, KeyError, TypeError, Rejected):
        return None
    return dict(manifest)


def _build(
    place: Path, environment: Buildable, lock: Path, *, root: Path, hold: int, announce: Announce
) -> dict[str, Any]:
    name, start = environment.name, time.monotonic()
    uv = find_uv(root)
    interpreter = _interpreter(environment, uv, root, announce)
    tool = "uv" if uv else "pip"
    announce(f"{name}: building with {tool} from locks/{name}.txt (Python {interpreter.version} at {interpreter.path})")
    with replacement(place) as folder:
        _install(Installation(folder, interpreter.path, lock, name, hold, announce), uv)
        repoint(folder, place)
        lock_hash = locks.lock_hash(lock)
        # pip sets the times of its files to the time of the installation, so no stored bytecode would fit them.
        stored = bytecode.entry(folder, interpreter, lock_hash) if uv else None
        compiled = bytecode.provide(folder, stored, cache_tag=interpreter.cache_tag, processes=_processors())
        files, size_bytes = _extent(folder)
        manifest = {
            "layout": LAYOUT,
            "environment": name,
            "framework": environment.framework,
            "provider": "venv",
            "asked_for": environment.interpreter,
            "interpreter": asdict(interpreter),
            "requirements": list(environment.requirements),
            "lock_hash": lock_hash,
            "installer": tool,
            "packages": _packages(folder),
            "bytecode": asdict(compiled),
            "files": files,
            "size_bytes": size_bytes,
            "build_s": round(time.monotonic() - start, 3),
        }
        write_whole(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")
    announce(f"{name}: ready after {manifest['build_s']:.1f} s ({size_bytes / 1e9:.2f} GB in {files} files)")
    return manifest


def _packages(folder: Path) -> dict[str, str]:
    python = str(folder / "bin" / "python")
    try:
        return dict(ask(python, "--packages")["packages"])
    except Rejected as error:
        raise ToolFailed([python], 1, f"the environment was built and does not run: {error}") from None


def _interpreter(environment: Buildable, uv: str | None, root: Path, announce: Announce) -> Interpreter:
    try:
        wanted = environment.python or ""
        return find(wanted, uv=uv, root=root, announce=announce, path=environment.interpreter)
    except NoInterpreter as error:
        raise Impossible(str(error)) from None


def _install(site: Installation, uv: str | None) -> None:
    if uv is not None:
        return install_with_uv(site, uv)
    try:
        return install_with_pip(site)
    except NoInstaller as error:
        raise Impossible(str(error)) from None


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _extent(place: Path) -> tuple[int, int]:
    """Return the number of files and their bytes, without the manifest and without bytecode, which may change."""
    files = size_bytes = 0
    pending = [str(place)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                elif entry.name != MANIFEST:
                    files += 1
                    size_bytes += entry.stat(follow_symlinks=False).st_size
    return files, size_bytes
