"""Collects the versions of what computed in each environment."""

from __future__ import annotations

from collections.abc import Iterable

from .results import Result

#: {environment: {package: its versions}}
Versions = dict[str, dict[str, tuple[str, ...]]]


def versions_of(results: Iterable[Result]) -> Versions:
    """Return the versions that the records of each environment name, in the order of the records."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for result in results:
        for record in result.records:
            packages = found.setdefault(record.cell.environment, {})
            for name, version in record.versions.items():
                packages.setdefault(name, {})[version] = None
    return {
        environment: {name: tuple(versions) for name, versions in packages.items()}
        for environment, packages in found.items()
        if packages
    }
