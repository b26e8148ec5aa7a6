"""Writes the files that compare the versions of a run beside its report, where they are not there yet."""

from __future__ import annotations

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

    if (folder / history.MARKDOWN).exists() or not families_of(described.environments):
        return []
    made = history.make(records, described, {})
    return made.write(folder) if made.tables else []


def families_of(environments: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return {family: environments} of those that are named as versions of one: ``torch-1.13.1``, ``torch-2.0.1``.

    The study file, which has the families, need not be at hand.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in environments:
        family, _, version = name.rpartition("-")
        if family and version[:1].isdigit():
            found[family] = (*found.get(family, ()), name)
    return {family: members for family, members in found.items() if len(members) > 1}
