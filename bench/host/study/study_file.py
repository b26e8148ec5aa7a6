"""Makes a study from a study file, or lists everything that is wrong with the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import indexes, location, rules, shared_lock, sources, version_ranges
from .location import StudyError
from .reader import Reader
from .schema import Study


def load(path: Path, *, root: Path | None = None) -> Study:
    """Read the study file at ``path``; raises StudyError with all of its errors at once.

    ``root`` is the project, whose ``locks/`` have the releases of ranges of versions; the file's folder by default.
    """
    tables, problems = version_ranges.with_releases(location.read(path), root or path.parent)
    if problems:
        raise StudyError([f"{location.shown(path)}: {problem}" for problem in problems])
    return parse(tables, source=location.shown(path), folder=path.parent).from_file(path)


def parse(tables: Mapping[str, Any], *, source: str = "matrix.toml", folder: Path = Path()) -> Study:
    """Check the tables of a study file that messages call ``source`` and that lies in ``folder``.

    Raises StudyError with all errors at once.
    """
    registry, problems = sources.find(tables.get("study"), folder)
    if problems:
        # Without its sources, most of a study file would be wrong.
        raise StudyError([f"{source}: study: {problem}" for problem in problems])
    workloads = tables.get("workloads")
    problems = list(sources.broken(registry, workloads if isinstance(workloads, dict) else ()))
    if problems:
        raise StudyError(problems)
    reader = Reader(registry)
    draft = reader.read(tables)
    for place, problem in rules.problems(draft):
        reader.report(place, problem)
    errors = [f"{source}: {place}: {problem}" for place, found in reader.problems.items() for problem in found]
    if errors:
        # The versions of a family have their problems in common.
        raise StudyError(list(dict.fromkeys(errors)))
    study = shared_lock.with_shared_locks(reader.study())
    return _with_paths_from(folder, indexes.with_cpu_index(study, folder))


def _with_paths_from(folder: Path, study: Study) -> Study:
    """Take the relative paths of input data and of libraries to preload from the folder of the study file."""
    choices = {
        name: choice if choice.data is None else choice.model_copy(update={"data": folder / choice.data})
        for name, choice in study.workloads.items()
    }
    environments = {
        name: environment.model_copy(update={"preload": tuple(str(folder / path) for path in environment.preload)})
        if environment.preload
        else environment
        for name, environment in study.environments.items()
    }
    return study.model_copy(update={"workloads": choices, "environments": environments})
