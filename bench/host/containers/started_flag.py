"""Keeps a file that exists while this checkout may have containers.

Without the file a run need not look for an engine; with it, the next run removes what a killed run left.
"""

from __future__ import annotations

from pathlib import Path

from ..project import STATE


def _path(root: Path) -> Path:
    return root / STATE / "containers-were-started"


def put(root: Path) -> None:
    path = _path(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def exists(root: Path) -> bool:
    return _path(root).exists()


def remove(root: Path) -> None:
    _path(root).unlink(missing_ok=True)
