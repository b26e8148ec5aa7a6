"""Finds the folders and packages with other people's code that a study file names, and checks what they hold."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench.registry import BENCH, FOLDERS, Registry, Source, folder_of

from ..refusal import raised
from . import contracts
from .suggestion import nearest_name, unknown

#: The group of the entry points by which an installed package says that it holds such code.
GROUP = "benchmatrix"


def find(settings: Any, folder: Path) -> tuple[Registry, list[str]]:
    """Return the registry of a study whose file lies in ``folder``, and what is wrong with its sources.

    ``settings`` is the table [study] as it was read; values of a wrong type are left to the reader of the table.
    """
    problems: list[str] = []
    found: dict[str, str] = {}
    locating: tuple[tuple[str, Callable[[str], Path]], ...] = (
        ("paths", lambda value: _folder(value, folder)),
        ("packages", _package),
    )
    for key, locate in locating:
        for value in _texts(settings, key):
            try:
                place = locate(value)
            except ValueError as error:
                problems.append(f"{key}: {error}")
                continue
            if str(place) not in found.values():
                found[_free_name(place.name, found)] = str(place)
    registry = Registry.of(found)
    return registry, problems or list(clashes(registry))


def _texts(settings: Any, key: str) -> list[str]:
    listed = settings.get(key) if isinstance(settings, Mapping) else None
    return [value for value in listed if isinstance(value, str) and value] if isinstance(listed, list) else []


def _folder(value: str, folder: Path) -> Path:
    place = (folder / os.path.expandvars(os.path.expanduser(value))).resolve()
    if not place.is_dir():
        raise ValueError(f"{value!r}: there is no folder {place}. Correct the path; it is relative to the study file.")
    return _with_code(value, place)


def _package(value: str) -> Path:
    points = {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}
    if value not in points:
        remedy = f"Install it where the host runs; its entry point in the group {GROUP!r} has this name."
        raise ValueError(f"{unknown('package', value, sorted(points))} {remedy}")
    module = points[value].partition(":")[0]
    try:
        specification = importlib.util.find_spec(module)
    except ImportError:
        specification = None
    if specification is None or not specification.submodule_search_locations:
        raise ValueError(
            f"{value!r}: its entry point names {module!r}, which is not an installed package. Install it again."
        )
    return _with_code(value, Path(specification.submodule_search_locations[0]).resolve())


def _with_code(value: str, place: Path) -> Path:
    if not any((place / name).is_dir() for name in FOLDERS):
        raise ValueError(f"{value!r}: {place} holds none of the folders {', '.join(FOLDERS)}. Add one, or remove it.")
    return place


def _free_name(name: str, taken: Iterable[str]) -> str:
    used = {BENCH.name, *taken}
    return next(
        each for each in (name, *(f"{name}-{number}" for number in range(2, len(used) + 2))) if each not in used
    )


def clashes(registry: Registry) -> Iterator[str]:
    """Give what two sources define, and what belongs to nothing."""
    for kind, listed in (("framework", registry.frameworks), ("workload", registry.workloads)):
        for name in repeated(listed):
            yield f"{kind} {name!r} exists {_where(registry, f'{kind}s', folder_of(name))}; rename one of them."
    for source in registry.sources[1:]:
        yield from _orphans(registry, source)
    # One source alone, as most studies have it, has each file once: thousands of looks at the disk for nothing.
    several = _implementations(registry) if len(registry.sources) > 1 else ()
    for name in repeated(f"{folder}/{file}" for folder, file in several):
        yield f"implementation workloads/{name} exists {_where(registry, 'workloads', name)}; rename or remove yours."


def repeated(values: Iterable[str]) -> list[str]:
    """List each of the values that occur more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def _where(registry: Registry, kind: str, name: str) -> str:
    return "in " + " and in ".join(s.name for s in registry.sources if os.path.exists(s.path(kind, name)))


def _implementations(registry: Registry) -> Iterator[tuple[str, str]]:
    frameworks = dict.fromkeys(registry.frameworks)
    for source in registry.sources:
        for folder in source.entries("workloads"):
            for framework in frameworks:
                if source.has("workloads", folder, f"{framework}.py"):
                    yield folder, f"{framework}.py"


def _orphans(registry: Registry, source: Source) -> Iterator[str]:
    """Give the folders of a source that add to something that does not exist."""
    for folder in source.entries("frameworks"):
        place = f"{source.name}/frameworks/{folder}"
        if not os.path.isdir(source.path("frameworks", folder)) or source.has("frameworks", folder, "facts.py"):
            continue
        if not source.has("frameworks", folder, "modes.py"):
            yield f"{place} has neither facts.py, which defines a framework, nor modes.py, which adds modes to one."
        elif folder not in registry.frameworks:
            yield f"{place}/modes.py: {unknown('framework', folder, registry.frameworks)}"
    for folder in source.entries("workloads"):
        name = folder.replace("_", "-")
        if not os.path.isdir(source.path("workloads", folder)):
            continue
        if not folder.isidentifier() and name in registry.workloads:
            # Nothing would name this folder: its workload exists elsewhere, and lacks what is in here.
            yield _misnamed(source, "workloads", folder)
        elif not source.has("workloads", folder, "__init__.py") and name not in registry.workloads:
            near = nearest_name(name, registry.workloads)
            hint = f"; to implement {near!r}, call the folder {folder_of(near)}" if near else ""
            yield f"{source.name}/workloads/{folder} has no __init__.py, which defines a workload{hint}."


def misnamed(registry: Registry, kind: str) -> dict[str, str]:
    """Return {name: what to do} of the ``kind``, workloads or frameworks, whose folder Python cannot import."""
    defining = {"workloads": "__init__.py", "frameworks": "facts.py"}[kind]
    return {
        folder.replace("_", "-"): _misnamed(source, kind, folder)
        for source in registry.sources[1:]
        for folder in source.entries(kind)
        if not folder.isidentifier() and source.has(kind, folder, defining)
    }


def _misnamed(source: Source, kind: str, folder: str) -> str:
    name = re.sub(r"\W", "_", folder)
    if not name.isidentifier():
        remedy = "use letters, digits and '_', beginning with a letter"
    else:
        there = os.path.exists(source.path(kind, name))
        remedy = f"move its files to {name}, which exists" if there else f"rename it to {name}"
    return f"the folder {source.name}/{kind}/{folder} has a name that Python cannot import; {remedy}."


def broken(registry: Registry, workloads: Iterable[str]) -> Iterator[str]:
    """Load other people's facts, and the specifications of ``workloads``; give what is wrong with them, with the line.

    The rules of the study file report unknown names.
    """
    for framework in registry.frameworks:
        if registry.is_extended(framework):
            check = partial(contracts.check_facts, registry, framework)
            yield from _problems(registry, f"frameworks/{framework}", check)
    there = registry.workloads
    for workload in workloads:
        if workload in there:
            yield from problems_of(registry, workload)


def problems_of(registry: Registry, workload: str) -> Iterator[str]:
    """Load the specification of a workload that exists; give what is wrong with it."""
    if registry.home_of(workload) != BENCH:
        place = f"workloads/{folder_of(workload)}"
        yield from _problems(registry, place, lambda: contracts.check_specification(registry, workload))


def _problems(registry: Registry, place: str, load: Callable[[], list[str]]) -> Iterator[str]:
    try:
        yield from load()
    except Exception as error:  # The boundary to other people's code.
        yield raised(error, registry.place_of(error) or place)
