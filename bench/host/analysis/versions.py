"""Collects the versions of what computed in each environment, and finds that of the framework among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from bench.registry import BUILT_IN

if TYPE_CHECKING:
    # Naming a framework need not wait for scipy.
    from .results import Result

#: {environment: {package: its versions}}
Versions = dict[str, dict[str, tuple[str, ...]]]
Recorded = TypeVar("Recorded")


def framework_version(framework: str, recorded: Mapping[str, Recorded]) -> Recorded | None:
    """Return a framework's own among what is recorded of its packages; None where nothing is.

    ``framework`` is its name in a study file. Its package may have another name: dm-haiku, or TensorFlow's own for
    ``tensorflow1``.
    """
    try:
        distribution = BUILT_IN.facts(framework).distribution
    except ValueError:
        # A report is made from the records alone; other people's frameworks need not be here any more.
        distribution = framework
    return recorded.get(distribution)


def version_of(framework: str, recorded: Iterable[Mapping[str, str]]) -> str:
    """Return a framework's version as the first records that have it say; empty where none does."""
    return next(filter(None, (framework_version(framework, versions) for versions in recorded)), "")


def without_build(version: str) -> str:
    """Return a version without what names its build: 2.13.0 of 2.13.0+cpu."""
    return version.partition("+")[0]


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
