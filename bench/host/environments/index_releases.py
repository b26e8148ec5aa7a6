"""Asks the package index which releases are in a range, by the installer, so that its settings and mirrors hold."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from bench.frameworks.facts import Facts
from bench.registry import Registry

from ..setup import Announce
from ..setup.installer import find_uv, installer_environ
from ..setup.staging import write_whole
from ..setup.tool import ToolFailed, run_tool
from ..study import version_ranges
from ..study.families import VERSION, python_minors
from ..study.family_names import MOST_VERSIONS, sorted_versions
from ..study.suggestion import unknown
from .source_builds import LockError

#: What uv says where the index answered, and has nothing that fits; of a long answer only the end is kept.
NOTHING = re.compile("no solution found|unsatisfiable", re.IGNORECASE)


def renew(
    tables: Mapping[str, Any], names: Sequence[str], registry: Registry, *, root: Path, announce: Announce
) -> None:
    """Look up the releases of the ranges of a study file, of the named tables or of all. Raises LockError.

    Those that are not known yet are always looked up: without them the study cannot be read.
    """
    for name, table in version_ranges.ranges(tables).items():
        if names and name not in names and isinstance(version_ranges.listed(name, table, root), list):
            continue
        announce(f"{name}: looking up the releases in {version_ranges.fitting(table)}")
        versions = releases(name, table, registry, root=root, announce=announce)
        announce(f"{name}: {', '.join(versions)}")
        path = version_ranges.list_path(name, root)
        write_whole(path, version_ranges.list_text(name, table, versions))


def releases(name: str, table: Mapping[str, Any], registry: Registry, *, root: Path, announce: Announce) -> list[str]:
    """Return the newest release of each minor version in the range of a table, oldest first. Raises LockError.

    A release counts where it has a wheel for this platform and for one of the Pythons that may be used.
    """
    if table.get("framework") not in registry.frameworks:
        raise LockError(
            f"environments.{name}: {unknown('framework', str(table.get('framework')), registry.frameworks)}"
        )
    facts = registry.facts(str(table["framework"]))
    pythons = _pythons(table, facts)
    if not pythons:
        raise LockError(
            f"environments.{name}: versions: which Python the versions of {facts.product} support is not known; "
            'give for example python = "3.11".'
        )
    uv = find_uv(root)
    if uv is None:
        raise LockError("uv looks up releases, and it is not installed; install it, for example with: pipx install uv")
    package = _package(table, facts)
    wanted = f"{package}{table['versions']}"
    try:
        found = {v for python in pythons for v in _newest_of_minors(wanted, python, uv, root, announce)}
    except ToolFailed as error:
        raise LockError(f"the releases of {package} cannot be looked up: {error}") from None
    # Another Python may have an older patch.
    newest = {minor: max(v for v in found if _minor(v) == minor) for minor in map(_minor, found)}
    versions = sorted_versions([str(version) for version in newest.values()])
    if not versions:
        raise LockError(
            f"environments.{name}: versions: no release of {package} in {table['versions']!r} has a wheel for this "
            f"platform and Python {', '.join(pythons)}. Give another range."
        )
    if len(versions) > MOST_VERSIONS:
        raise LockError(
            f"environments.{name}: versions: {len(versions)} releases; a family has at most {MOST_VERSIONS}."
        )
    return versions


def _newest_of_minors(wanted: str, python: str, uv: str, root: Path, announce: Announce) -> Iterable[Version]:
    """Yield the newest release of each minor version that one Python can install, the newest first."""
    requirement = wanted
    while (found := _newest(requirement, python, uv, root, announce)) is not None:
        yield found
        requirement = f"{wanted},<{_minor(found)}"


def _newest(requirement: str, python: str, uv: str, root: Path, announce: Announce) -> Version | None:
    """Return the newest release that fits; None where there is none. Raises ToolFailed."""
    with tempfile.TemporaryDirectory() as folder:
        given, output = Path(folder, "given.txt"), Path(folder, "found.txt")
        given.write_text(requirement, encoding="utf-8")
        options = ("--quiet", "--no-deps", "--no-build", "--no-header", "--no-annotate", "--python", sys.executable)
        command = (uv, "pip", "compile", *options, "--python-version", python, "--output-file", str(output), str(given))
        try:
            run_tool(command, label="looking up", announce=announce, environ=installer_environ(root), cwd=folder)
        except ToolFailed as error:
            if NOTHING.search(error.tail):
                return None
            raise
        line = next(line for line in output.read_text(encoding="utf-8").splitlines() if "==" in line)
    return Version(line.partition("==")[2].split()[0])


def _minor(version: Version) -> str:
    return f"{version.major}.{version.minor}"


def _pythons(table: Mapping[str, Any], facts: Facts) -> list[str]:
    """Return the Pythons of a table, or all that some release of the framework supports, the newest first."""
    if isinstance(table.get("python"), str):
        return [table["python"]]
    minors = {minor for release in facts.releases for minor in python_minors(release)}
    return [f"3.{minor}" for minor in sorted(minors, reverse=True)]


def _package(table: Mapping[str, Any], facts: Facts) -> str:
    """Return the package whose releases are meant: the one that a table gives with ``{version}``, or the usual one."""
    given = table.get("requirements")
    named = [text for text in given if isinstance(text, str) and VERSION in text] if isinstance(given, list) else []
    return Requirement(named[0].replace(VERSION, "0")).name if named else facts.package or facts.distribution
