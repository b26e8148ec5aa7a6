"""Builds an environment from its lock, or uses one that still fits."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..machine.processors import available
from ..setup import Announce
from ..setup.installer import (
    Installation,
    NoInstaller,
    find_uv,
    install_again,
    install_with_pip,
    install_with_uv,
    repoint,
)
from ..setup.staging import exclusive, replacement, write_whole
from ..setup.tool import ToolFailed
from ..study.environment import Environment
from . import bytecode, contents, cpu_builds, locks, sizes, source_builds, wheel_records
from .interpreters import Interpreter, NoInterpreter, Rejected, ask, find
from .outcome import Impossible, Prepared, folder_of, ready
from .source_builds import LockError

MANIFEST = "manifest.json"

# Raise it when environments are built differently: those of another layout are built again.
LAYOUT = 2

#: Facts about an interpreter that decide whether an environment still has the one that it was built with.
INTERPRETER = ("version", "implementation", "build", "compiler", "bytecode")

#: A worker must not add bytecode to its environment.
VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1"}


def prepare(environment: Environment, *, root: Path, announce: Announce, thorough: bool = False) -> Prepared:
    """Return the environment; build it where it is missing or is not what was built from its lock.

    ``thorough`` compares the hashes of all files, also where their sizes, times and inodes are as they were.
    Raises Impossible, LockError, ToolFailed and OSError.
    """
    python = environment.python
    if python is None:
        raise Impossible(
            f'environment {environment.name!r} has no python; set it in its table, for example python = "3.11"'
        )
    build = source_builds.build_requirements(environment)
    source, named = cpu_builds.source_of(environment), cpu_builds.lock_name(environment)
    request = locks.LockRequest(named, python, environment.requirements, build, source)
    lock = locks.present(request, root=root, announce=announce)
    place = place_of(environment, root)
    with exclusive(place, announce) as hold:
        manifest = _reusable(place, environment, locks.lock_hash(lock), announce, thorough)
        if manifest is None:
            manifest = _build(place, environment, lock, root=root, hold=hold, announce=announce)
    return ready(environment.name, (str(place / "bin" / "python"),), manifest)


def place_of(environment: Environment, root: Path) -> Path:
    """Return the folder of the environment's installation, which those that share a lock have in common."""
    return folder_of(root) / environment.lock_owner


def _reusable(
    place: Path, environment: Environment, lock_hash: str, announce: Announce, thorough: bool
) -> dict[str, Any] | None:
    """Return the manifest of the environment at ``place`` if it is undamaged and fits; None otherwise."""
    try:
        manifest = json.loads((place / MANIFEST).read_bytes())
        stated = (manifest["layout"], manifest["lock_hash"], manifest["asked_for"])
        if stated != (LAYOUT, lock_hash, environment.interpreter):
            return None
        changed = changed_files(place, manifest, thorough=thorough)
        if changed:
            announce(f"{place.name}: not as it was built: {contents.shown(changed)}; building it again")
            return None
        answer = ask(str(place / "bin" / "python"))
        if any(answer[fact] != manifest["interpreter"][fact] for fact in INTERPRETER):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, Rejected):
        return None
    return dict(manifest)


def changed_files(place: Path, manifest: dict[str, Any], *, thorough: bool = False) -> list[str]:
    """List the files of an environment that are not as they were built. Raises OSError and ValueError.

    Where facts differ and no hash does, as after a copy, the facts become those of the manifest.
    """
    now = contents.measure(place)
    if now.digest == manifest["digest"] and not thorough:
        return []
    built = contents.load(place, manifest["files_hash"])
    changed = contents.changes(built, contents.read(place, processes=len(available())))
    if not changed and now.digest != manifest["digest"]:
        # What an environment adds to the manifest, such as libraries to preload, is not of the installation.
        stored = json.loads((place / MANIFEST).read_bytes())
        manifest["digest"] = stored["digest"] = now.digest
        write_whole(place / MANIFEST, json.dumps(stored, indent=1) + "\n")
    return changed


def _build(
    place: Path, environment: Environment, lock: Path, *, root: Path, hold: int, announce: Announce
) -> dict[str, Any]:
    name, start = place.name, time.monotonic()
    uv = find_uv(root)
    interpreter = _interpreter(environment, uv, root, announce)
    tool = "uv" if uv else "pip"
    taken = _taken(place, sizes.size_of(lock))
    # A project that has no lock of its own for this uses the one that comes with the package.
    whose = "" if lock.resolve().is_relative_to(root.resolve()) else "benchmatrix's "
    announce(f"{name}: building with {tool} from {whose}locks/{lock.name} for Python {interpreter.version}{taken}")
    with replacement(place) as folder:
        build_lock = lock.with_name(f"{source_builds.build_lock(name)}.txt") if environment.allow_source else None
        source = cpu_builds.source_of(environment)
        site = Installation(folder, interpreter.path, lock, name, hold, announce, build_lock, source)
        _install(site, uv)
        hashes = _verified(site, uv)
        repoint(folder, place)
        store = bytecode.store_of(folder, interpreter)
        compiled = bytecode.provide(
            folder, store, hashes=hashes, cache_tag=interpreter.cache_tag, processes=len(available())
        )
        packages = _packages(folder)
        files_hash, extent = _seal(folder, hashes)
        manifest = {
            "layout": LAYOUT,
            "environment": name,
            "framework": environment.framework,
            "provider": "venv",
            "asked_for": environment.interpreter,
            "interpreter": asdict(interpreter),
            "requirements": list(environment.requirements),
            "lock_hash": locks.lock_hash(lock),
            "installer": tool,
            "built_from_source": environment.allow_source,
            "packages": packages,
            "bytecode": asdict(compiled),
            "variables": VARIABLES,
            "files": extent.files,
            "size_bytes": extent.size_bytes,
            "files_hash": files_hash,
            "digest": extent.digest,
            "build_s": round(time.monotonic() - start, 3),
        }
        write_whole(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")
    seconds, size_bytes, files = manifest["build_s"], extent.size_bytes, extent.files
    announce(f"{name}: ready after {seconds:.1f} s ({size_bytes / 1e9:.2f} GB in {files} files)")
    return manifest


def _taken(place: Path, size: sizes.Size | None) -> str:
    """Say what a build takes, where that is known, and how much the disk has where that is too little."""
    if size is None:
        return ""
    free = shutil.disk_usage(place.parent).free
    return f"; {size}" + ("" if free > size.most_bytes else f", which has {free / 1e9:.1f} GB left")


def _verified(site: Installation, uv: str | None) -> dict[str, str]:
    """Return the hash of every installed file, after comparing them with those that the wheels state.

    Files of a damaged cache are fetched again. Raises LockError where they differ after that, too.
    """
    hashes = contents.read(site.folder, processes=len(available()))
    found = wheel_records.differences(site.folder, hashes)
    damaged = sorted({each.package for each in found if each.package is not None})
    if damaged and uv is not None and site.build_lock is None:
        files = contents.shown([each.file for each in found])
        site.announce(f"{site.label}: the installer's cache was changed: {files}; fetching {', '.join(damaged)} again")
        install_again(site, uv, damaged)
        hashes = contents.read(site.folder, processes=len(available()))
        found = wheel_records.differences(site.folder, hashes)
    wrong = [each for each in found if site.build_lock is None and wheel_records.is_metadata(each)]
    if wrong and wrong == found:
        # Its wheel has just been fetched, or unpacked by pip, and has the hash of the lock.
        site.announce(f"{site.label}: the wheel of {wrong[0].package} misstates the hash of its own METADATA")
        found = []
    if found:
        files = contents.shown([each.file for each in found])
        raise LockError(
            f"what was installed is not what the wheels contain: {files}. Empty the installer's cache: uv cache clean"
        )
    return hashes


def _seal(folder: Path, installed: dict[str, str]) -> tuple[str, contents.Extent]:
    """Make the files read-only and list them; return the hash of the list, and their extent."""
    # What was written after the installation is read again: scripts and bytecode.
    kept = {name: each for name, each in installed.items() if not name.endswith(".pyc") and name.startswith("lib/")}
    files_hash = contents.store(folder, contents.read(folder, processes=len(available()), known=kept))
    contents.protect(folder)
    return files_hash, contents.measure(folder)


def _packages(folder: Path) -> dict[str, str]:
    python = str(folder / "bin" / "python")
    try:
        return dict(ask(python, "--packages")["packages"])
    except Rejected as error:
        raise ToolFailed([python], 1, f"the environment was built and does not run: {error}") from None


def _interpreter(environment: Environment, uv: str | None, root: Path, announce: Announce) -> Interpreter:
    try:
        wanted = environment.python or ""
        return find(wanted, uv=uv, root=root, announce=announce, path=environment.interpreter)
    except NoInterpreter as error:
        raise Impossible(str(error)) from None


def _install(site: Installation, uv: str | None) -> None:
    if uv is not None:
        return install_with_uv(site, uv)
    if site.build_lock is not None:
        raise Impossible(
            "allow_source needs uv, and it is not installed; install it, for example with: pipx install uv"
        )
    try:
        return install_with_pip(site)
    except NoInstaller as error:
        raise Impossible(str(error)) from None
