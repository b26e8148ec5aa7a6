"""Knows how a study file becomes a study, or the list of everything that is wrong with it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import rules, shared_lock
from .reader import Reader
from .schema import Study


class MatrixError(Exception):
    """What is wrong with a study file or with a selection from it; ``errors`` holds every problem found, one a line."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = tuple(errors)


def load(path: Path) -> Study:
    """Read the study file at ``path``; raises MatrixError with all of its errors at once."""
    source = _shown(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MatrixError([f"{source}: cannot be read: {reason}. Name a study file with --matrix FILE."]) from error
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MatrixError([f"{source}: not valid TOML: {error}."]) from error
    return parse(tables, source=source, folder=path.parent)


def parse(tables: Mapping[str, Any], *, source: str = "matrix.toml", folder: Path = Path()) -> Study:
    """Check the tables of a study file that messages call ``source`` and that lies in ``folder``.

    Raises MatrixError with all errors at once.
    """
    reader = Reader()
    draft = reader.read(tables)
    for place, problem in rules.problems(draft):
        reader.report(place, problem)
    errors = [f"{source}: {place}: {problem}" for place, found in reader.problems.items() for problem in found]
    if errors:
        raise MatrixError(errors)
    return _with_data_from(folder, shared_lock.with_shared_locks(reader.study()))


def _with_data_from(folder: Path, study: Study) -> Study:
    """Take the relative paths of input data from the folder of the study file."""
    choices = {
        name: choice if choice.data is None else choice.model_copy(update={"data": folder / choice.data})
        for name, choice in study.workloads.items()
    }
    return study.model_copy(update={"workloads": choices})


def _shown(path: Path) -> str:
    """Name a file as short as it is found from the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except (OSError, ValueError):
        return str(path)
