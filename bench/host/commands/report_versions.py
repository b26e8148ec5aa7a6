"""Writes the files that compare the versions of a run beside its report, where they are not there yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.record import Record

    from ..storage.manifest import Manifest


def write(records: Sequence[Record], described: Manifest, folder: Path) -> list[Path]:
    """Return the paths of the files; none for a run without a family of versions.

    Files that are there stay: ``history --against`` may have compared with another version than the oldest.
    """
    from ..reporting import history

    if (folder / history.MARKDOWN).exists() or not has_family(described.environments):
        return []
    made = history.make(records, described, {})
    return made.write(folder) if made.tables else []


def has_family(environments: Iterable[str]) -> bool:
    """Tell whether several environments are named as versions of one family: ``torch-1.13.1``, ``torch-2.0.1``.

    The study file, which has the families, need not be at hand.
    """
    named = [name.rpartition("-") for name in environments]
    families = Counter(family for family, _, version in named if family and version[:1].isdigit())
    return any(count > 1 for count in families.values())
