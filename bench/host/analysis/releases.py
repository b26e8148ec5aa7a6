"""Arranges the results of a run as lines: one computation in one mode, over the versions of a framework, oldest first.

The versions are those of a family in the study file, or environments of one framework that have tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from bench.cell import Cell
from bench.record import OK

from ..study.twin import is_twin
from .quality import quality_of
from .results import Result
from .row_key import row_key
from .versions import Versions, framework_version, versions_of

#: {environment: (family, version)}, as the study file has them.
Members = Mapping[str, tuple[str, str]]
#: The status of a cell whose times are those of other programs, too.
BUSY = "busy"


@dataclass(frozen=True)
class Release:
    """What one version has in a line."""

    version: str
    result: Result

    @property
    def environment(self) -> str:
        return self.result.cell.environment

    @property
    def status(self) -> str:
        """Return ``ok`` where there is a time that can be used, and otherwise why there is none."""
        quality = quality_of(self.result)
        if quality is not None and not quality.usable:
            return BUSY
        # Without a sample there is nothing to compare, whatever the worker said.
        return "failed" if self.result.status == OK and quality is None else self.result.status

    @property
    def usable(self) -> bool:
        return self.status == OK


@dataclass(frozen=True)
class Line:
    """The versions of one family in one row and one mode, oldest first; at least two."""

    family: str
    releases: tuple[Release, ...]

    @property
    def cell(self) -> Cell:
        """Return a cell of the line; all have the same workload, size, precision, device, threads and mode."""
        return self.releases[0].result.cell

    @property
    def product(self) -> str:
        """Return the framework's name for people."""
        return self.releases[0].result.names.product


def before(release: Release, known: Sequence[Release]) -> Release | None:
    """Return the version that a version is compared with: the newest older one of those whose values are known."""
    older = known[: known.index(release)] if release in known else ()
    return next((one for one in reversed(older) if one.version != release.version), None)


def baseline(version: str | None, known: Sequence[Release]) -> Release | None:
    """Return the version, or the environment, of this name; without a name the oldest one."""
    named = (one for one in known if version is None or version in (one.version, one.environment))
    return next(named, None)


def lines_of(results: Iterable[Result], members: Members) -> tuple[Line, ...]:
    """Return the lines of at least two versions, in the order of the results."""
    kept = [result for result in results if not is_twin(result.cell)]
    versions = versions_of(kept)
    found: dict[tuple[str, tuple[str, int], str], list[Release]] = {}
    for result in kept:
        family, version = _member(result, members, versions)
        if version:
            found.setdefault((family, row_key(result.cell), result.cell.mode), []).append(Release(version, result))
    return tuple(
        Line(family, tuple(sorted(releases, key=lambda one: order(one.version))))
        for (family, _row, _mode), releases in found.items()
        if len({one.version for one in releases}) > 1
    )


def environments_of(lines: Sequence[Line]) -> dict[str, tuple[str, str]]:
    """Return {environment: (family, version)} of the lines, by family, oldest version first."""
    found = {one.environment: (line.family, one.version) for line in lines for one in line.releases}
    families = list(dict.fromkeys(line.family for line in lines))
    return dict(sorted(found.items(), key=lambda item: (families.index(item[1][0]), order(item[1][1]))))


def _member(result: Result, members: Members, versions: Versions) -> tuple[str, str]:
    """Return the family and the version of a cell's environment; the version is empty where nobody knows it."""
    cell = result.cell
    if cell.environment in members:
        return members[cell.environment]
    recorded = framework_version(result.names, versions.get(cell.environment, {}))
    return cell.framework, recorded[0].partition("+")[0] if recorded else ""


def order(version: str) -> tuple[int, Version, str]:
    """Return the key by which versions are sorted."""
    try:
        return 1, Version(version), version
    except InvalidVersion:
        return 0, Version("0"), version
