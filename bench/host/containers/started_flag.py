"""Knows whether this checkout has started containers since the last time that all of them were seen to be gone.

It spares a run without containers the search for an engine, and finds what a killed run left behind.
"""

from __future__ import annotations

from pathlib import Path


def _path(root: Path) -> Path:
    return root / ".nox" / "containers-were-started"


def leave(root: Path) -> None:
    path = _path(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def is_left(root: Path) -> bool:
    return _path(root).exists()


def remove(root: Path) -> None:
    _path(root).unlink(missing_ok=True)
