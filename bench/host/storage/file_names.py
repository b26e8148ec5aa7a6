"""Makes names of files and folders of the names of cells, runs and the like."""

from __future__ import annotations

from pathlib import Path


def slug(*parts: object) -> str:
    """Make a file name of names: letters, digits and ``._-``; names never become paths."""
    made = "-".join("".join(c if c.isalnum() or c in "._-" else "-" for c in str(part)) for part in parts)
    # Nothing, "." and ".." are the names of other folders: dropping the cache of such a run would remove theirs.
    return made if made.strip(".") else f"{made.replace('.', '-')}-"


def folder_name(run: str) -> str:
    """Return the name of the folder of an archived run: without dots, as what ``free`` adds begins with one."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in run)


def free(path: Path) -> Path:
    """Return a path that nothing has: this one, or else the first of those with ``.2``, ``.3`` … at its end."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}.{number}")
    return found
