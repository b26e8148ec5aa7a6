"""Removes environments that are not needed any more, by name or so that the others fit into a limit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from ..setup.installer import find_uv, forget
from ..setup.staging import exclusive
from ..setup.tool import ToolFailed
from .outcome import folder_of, outcome_path
from .venv import MANIFEST


def size_bytes(name: str, root: Path) -> int:
    """Return the bytes of a venv that was built; 0 where there is none."""
    try:
        return int(json.loads((folder_of(root) / name / MANIFEST).read_bytes())["size_bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def is_there(name: str, root: Path) -> bool:
    """Tell whether there is a venv, or what an interrupted removal left of it."""
    return (folder_of(root) / name).is_dir()


def prune(
    names: Iterable[str], needed: Collection[str], limit_bytes: int, root: Path, announce: Callable[[str], None]
) -> None:
    """Remove venvs of ``names``, the largest first, until all of them together fit; those that are needed stay."""
    sizes = {name: size for name in names if (size := size_bytes(name, root))}
    excess = sum(sizes.values()) - limit_bytes
    for name in sorted(set(sizes) - set(needed), key=lambda name: -sizes[name]):
        if excess <= 0:
            return
        announce(f"{name}: removed, which frees {sizes[name] / 1e9:.2f} GB; it is built again when it is needed")
        remove(name, root, announce)
        excess -= sizes[name]


def remove(name: str, root: Path, announce: Callable[[str], None], *, cached: bool = False) -> None:
    """Remove a venv and its outcome. Its files are read-only, its folders are not. Raises OSError.

    ``cached`` also removes its packages from uv's cache. The cache of pip stays as it is.
    """
    place = folder_of(root) / name
    with exclusive(place, announce):
        uv = find_uv(root) if cached else None
        if uv is not None and (packages := _packages(place)):
            try:
                forget(uv, place, packages, announce)
            except ToolFailed as error:
                announce(f"{name}: its packages stay in the installer's cache: {error}")
        outcome_path(name, root).unlink(missing_ok=True)
        # Without its manifest it is no environment any more, whatever interrupts the removal.
        (place / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(place)


def _packages(place: Path) -> list[str]:
    """List the packages of a venv; none where its manifest cannot be read."""
    try:
        return list(json.loads((place / MANIFEST).read_bytes())["packages"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
