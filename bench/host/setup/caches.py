"""Finds the folders of caches, and whether their files can be cloned into an environment."""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from pathlib import Path

from ..project import STATE

# The request "clone the content of that file into this one" (ioctl_ficlone(2)), which Python has no name for.
FICLONE = 0x40049409


def cache_folder(name: str) -> Path:
    """Return the user's cache folder for ``name``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / name


def near_cache(place: Path, name: str) -> Path:
    """Return a cache folder on the file system of ``place``, for use where the usual one is on another."""
    top = next((parent for parent in place.parents if parent.name == STATE), place.parent)
    return top / "cache" / name


def can_clone(place: Path) -> bool:
    """Tell whether the file system of ``place`` can clone files, which then share their bytes until one is written."""
    if sys.platform != "linux":
        return sys.platform == "darwin"
    folder = _existing(place)
    try:
        with tempfile.TemporaryFile(dir=folder) as one, tempfile.TemporaryFile(dir=folder) as other:
            one.write(b"content")
            one.flush()
            fcntl.ioctl(other.fileno(), FICLONE, one.fileno())
    except OSError:
        return False
    return True


def same_file_system(one: Path, other: Path) -> bool:
    """Tell whether two paths lie on one file system; they need not exist yet."""
    return _existing(one).stat().st_dev == _existing(other).stat().st_dev


def _existing(path: Path) -> Path:
    return next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
