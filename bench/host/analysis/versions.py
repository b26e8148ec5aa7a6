"""Collects the versions of what computed in each environment, and finds that of the framework among them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from bench.cell import Cell
from bench.frameworks.facts import Facts
from bench.registry import BUILT_IN, Registry

from ..storage.manifest_schema import FrameworkNames

if TYPE_CHECKING:
    # Naming a framework need not wait for scipy.
    from .results import Result

#: {environment: {package: its versions}}
Versions = dict[str, dict[str, tuple[str, ...]]]
Recorded = TypeVar("Recorded")


def names_of(framework: str, stored: Mapping[str, FrameworkNames] | None = None) -> FrameworkNames:
    """Return what a framework is called, given its name in a study file.

    A report is made from the files of a run alone. Those have the names of other people's frameworks, which need not be
    here any more, as ``stored``. In older files they have the names of their folders.
    """
    return _built_in().get(framework) or (stored or {}).get(framework) or FrameworkNames(framework, framework)


def names_to_store(registry: Registry, cells: Iterable[Cell]) -> dict[str, FrameworkNames]:
    """Return the names of the frameworks of ``cells`` that are not ours."""
    frameworks = sorted({cell.framework for cell in cells} - set(_built_in()))
    return {framework: _names(registry.facts(framework)) for framework in frameworks}


@functools.cache
def _built_in() -> dict[str, FrameworkNames]:
    return {framework: _names(BUILT_IN.facts(framework)) for framework in BUILT_IN.frameworks}


def _names(facts: Facts) -> FrameworkNames:
    return FrameworkNames(facts.product, facts.distribution)


def framework_version(names: FrameworkNames, recorded: Mapping[str, Recorded]) -> Recorded | None:
    """Return a framework's own among what is recorded of its packages; None where nothing is.

    Its package may have another name than its folder: dm-haiku, or TensorFlow's own for ``tensorflow1``.
    """
    return recorded.get(names.distribution)


def version_of(names: FrameworkNames, recorded: Iterable[Mapping[str, str]]) -> str:
    """Return a framework's version as the first records that have it say; empty where none does."""
    return next(filter(None, (framework_version(names, versions) for versions in recorded)), "")


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
