"""Replaces a range of versions in a study file by the releases that the package index had when the lock was made.

    [environments.jax]
    versions = ">=0.4.30,<0.11"

``nox -s lock -- jax`` asks the index and writes ``locks/jax.versions.txt``. Every other command reads that file, so a
new release changes no study. nox imports this module for ``nox -l``, so it needs the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import project
from .family_names import sorted_versions
from .session_names import NAME_REMEDY, is_valid

_CLAUSE = r" *(>=|<=|>|<|~=|==|!=) *[0-9][0-9a-z.]{0,40}(\.\*)? *"
RANGE_PATTERN = rf"^{_CLAUSE}(,{_CLAUSE}){{0,9}}$"
FITS = "# fits: "
#: A file with so many bytes more is no list of releases.
MOST_BYTES = 1 << 16


def is_range(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(RANGE_PATTERN[1:-1], value) is not None


def ranges(tables: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return {name: table} of the environment tables of a study file whose ``versions`` are a range.

    The name becomes that of a file, so a table whose name is wrong is left out.
    """
    return {name: table for name, table in _of_any_name(tables) if is_valid(name)}


def _of_any_name(tables: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    environments = tables.get("environments")
    named = environments.items() if isinstance(environments, dict) else ()
    return [(name, table) for name, table in named if isinstance(table, dict) and is_range(table.get("versions"))]


def with_releases(tables: Mapping[str, Any], root: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the tables with releases in the place of ranges, and what is wrong with those that stay.

    The lists are those of the project at ``root``, or else those that come with the package.
    """
    found = _of_any_name(tables)
    if not found:
        return dict(tables), []
    environments, problems = dict(tables["environments"]), []
    for name, table in found:
        if not is_valid(name):
            problems.append(f"environments.{name[:200]!r}: name: {NAME_REMEDY}.")
            continue
        releases = listed(name, table, root)
        if isinstance(releases, str):
            problems.append(f"environments.{name}: versions: {releases} Run: nox -s lock -- {name}")
        else:
            environments[name] = {**table, "versions": releases}
    return {**tables, "environments": environments}, problems


def list_path(name: str, root: Path) -> Path:
    """Return where the project at ``root`` keeps the releases of a range."""
    return root / "locks" / f"{name}.versions.txt"


def list_text(name: str, table: Mapping[str, Any], versions: Sequence[str]) -> str:
    """Return the content of the file that lists the releases of a range."""
    header = (
        f"# The releases of {name} that are measured: the newest of each minor version in the range",
        f"# Generated; renew it with: nox -s lock -- {name}",
        f"{FITS}{fitting(table)}",
    )
    return "\n".join((*header, *versions)) + "\n"


def fitting(table: Mapping[str, Any]) -> str:
    """Return what a list of releases is made for: the range, and the Python and the package that a table gives."""
    given = [str(table["versions"]).replace(" ", "")]
    given += [f"Python {table['python']}"] if isinstance(table.get("python"), str) else []
    return ", ".join(given)


def listed(name: str, table: Mapping[str, Any], root: Path) -> list[str] | str:
    """Return the releases of a range, or why they are not known."""
    fits = fitting(table)
    paths = [path for path in (list_path(name, root), project.data(f"locks/{name}.versions.txt")) if path.is_file()]
    if not paths:
        return f"which releases fit {fits!r} was not looked up yet."
    problem = ""
    for path in paths:
        shown = f"locks/{path.name}"
        try:
            with path.open(encoding="utf-8") as file:
                lines = file.read(MOST_BYTES).splitlines()
        except (OSError, ValueError) as error:
            problem = problem or f"{shown} cannot be read: {error}."
            continue
        versions = [line for line in lines if line and not line.startswith("#")]
        if f"{FITS}{fits}" not in lines:
            problem = problem or f"{shown} was made for another range than {fits!r}."
        elif not versions or len(sorted_versions(versions)) != len(versions):
            problem = problem or f"{shown} has a line that is no version, or none at all."
        else:
            return versions
    return problem
