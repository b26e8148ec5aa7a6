"""Finds the study file of an invocation, and reads its tables.

The noxfile and every command use it, so all of them mean the same file. nox imports it for ``nox -l``, so it needs the
standard library alone.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..counts import counted
from ..refusal import Refused, harmless
from .toml_limits import LARGEST_BYTES, verify_tables, verify_text

#: Names the study file where the command line does not.
VARIABLE = "BENCHMATRIX_MATRIX"
#: Problems that a message lists at most, and the characters of one.
MOST_ERRORS, LONGEST_ERROR = 20, 1000
#: Characters of a line that a message shows.
LONGEST_LINE = 100
#: Study files that extend each other, one after the other.
MOST_EXTENDED = 4
#: The study file of a project.
NAME = "matrix.toml"
#: What to do where a study file cannot be read.
UNREADABLE = "Go to the folder of the project, or name a study file with --matrix FILE."


class StudyError(Refused):
    """A study file, or a selection from it, is wrong; ``errors`` holds every problem found, one a line.

    The message has the first of them, each cut to a length that can be read.
    """

    def __init__(self, errors: Sequence[str]) -> None:
        lines = [harmless(error if len(error) <= LONGEST_ERROR else f"{error[:LONGEST_ERROR]} …") for error in errors]
        more = len(lines) - MOST_ERRORS
        more_said = [f"… and {counted(more, 'more problem')}."] if more > 0 else []
        super().__init__("\n".join([*lines[:MOST_ERRORS], *more_said]))
        self.errors = tuple(errors)


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the study file; ``locate`` takes its value."""
    text = f"the study file; {VARIABLE} or {NAME} by default"
    parser.add_argument("--matrix", type=path_option, metavar="FILE", help=text)


def path_option(text: str) -> Path:
    """Read the path of a file or folder. An empty word would be the current folder; raises ArgumentTypeError for it."""
    if not text:
        raise argparse.ArgumentTypeError("'' names no file or folder, as from a variable that is not set; give a path")
    return Path(text)


def named_in(arguments: Sequence[str]) -> Path | None:
    """Return the file that ``--matrix`` names among arguments of any command; None where it is missing."""
    parser = argparse.ArgumentParser(prog="benchmatrix", add_help=False, allow_abbrev=False)
    add_argument(parser)
    named: Path | None = parser.parse_known_args(arguments)[0].matrix
    return named


def is_named(named: Path | None) -> bool:
    """Tell whether the option or the variable names a study file."""
    return named is not None or bool(os.environ.get(VARIABLE))


def locate(named: Path | None, root: Path) -> Path:
    """Return the path of the study file: the named one, the one that the variable names, or the project's own."""
    return root / (named or os.environ.get(VARIABLE) or NAME)


def named_from(root: Path, path: Path | None) -> str:
    """Return how ``--matrix`` names the file at ``path`` in the project at ``root``; empty for None.

    A file in another folder keeps its whole path: it cannot be found without.
    """
    if path is None:
        return ""
    absolute = Path(os.path.abspath(path))
    return (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()


def read(path: Path, most: int = MOST_EXTENDED, *, remedy: str = UNREADABLE) -> dict[str, Any]:
    """Return the tables of the study file at ``path``, joined with those of the file that it extends.

    That file may extend another one, ``most`` of them in all. ``remedy`` says what to do where the file cannot be read.
    Raises StudyError.
    """
    tables = _tables(path, remedy)
    named = _extended(tables)
    if not isinstance(named, str):
        return tables
    if os.path.abspath(path.parent / named) == os.path.abspath(path):
        raise StudyError([f"{shown(path)}: study: extends: {named!r} is this file itself. Name another one."])
    if not most:
        raise StudyError([f"{shown(path)}: study: extends: more than {MOST_EXTENDED} files extend each other."])
    # A link to the extending file would be another folder's.
    base = path.parent / named
    correct = f'Correct extends = "{named}" in {shown(path)}; the path is relative to that file.'
    below = _moved(read(base, most - 1, remedy=correct), os.path.relpath(base.parent, path.parent))
    if "exclusions" in below:
        below["exclusions"] = _concerning(below["exclusions"], _joined(below, tables).get("environments"))
    return _joined(below, tables)


def _extended(tables: dict[str, Any]) -> object:
    """Return what a study file says that it extends; the reader of a study reports what is no text."""
    study = tables.get("study")
    return study.get("extends") if isinstance(study, dict) else None


def _joined(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Lay tables over others: a table key by key, a list of tables behind the other one, anything else in its place."""
    found = dict(below)
    for key, value in above.items():
        lower = below.get(key)
        if isinstance(value, dict) and isinstance(lower, dict):
            found[key] = _joined(lower, value)
        elif key == "exclusions" and isinstance(value, list) and isinstance(lower, list):
            found[key] = [*lower, *value]
        else:
            found[key] = value
    return found


def _concerning(exclusions: object, environments: object) -> object:
    """Leave out the exclusions of modes that no environment has: the file that is extended has more of them."""
    if not isinstance(exclusions, list) or not isinstance(environments, dict):
        return exclusions
    listed = (table.get("modes") for table in environments.values() if isinstance(table, dict))
    modes = [str(mode) for each in listed if isinstance(each, list) for mode in each]

    def concerns(exclusion: object) -> bool:
        pattern = exclusion.get("mode") if isinstance(exclusion, dict) else None
        return not isinstance(pattern, str) or any(fnmatchcase(mode, pattern.removeprefix("!")) for mode in modes)

    return [exclusion for exclusion in exclusions if concerns(exclusion)]


def _moved(tables: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return tables whose relative paths begin in another study file's folder.

    They are those of ``paths``, ``data``, ``preload`` and wheels.
    """

    def moved(path: object) -> object:
        relative = isinstance(path, str) and path and not path.startswith(("/", "~", "$")) and "://" not in path
        return os.path.join(folder, str(path)) if relative else path

    study, workloads, indexes = tables.get("study"), tables.get("workloads"), tables.get("indexes")
    environments = tables.get("environments")
    found = dict(tables)
    if isinstance(indexes, dict):
        found["indexes"] = {key: moved(address) for key, address in indexes.items()}
    if isinstance(study, dict) and isinstance(study.get("paths"), list):
        found["study"] = {**study, "paths": [moved(path) for path in study["paths"]]}
    if isinstance(workloads, dict):
        found["workloads"] = {
            name: {**each, "data": moved(each["data"])} if isinstance(each, dict) and "data" in each else each
            for name, each in workloads.items()
        }
    if isinstance(environments, dict):
        found["environments"] = {
            name: {**each, "preload": [moved(path) for path in each["preload"]]}
            if isinstance(each, dict) and isinstance(each.get("preload"), list)
            else each
            for name, each in environments.items()
        }
    return found


def _tables(path: Path, remedy: str) -> dict[str, Any]:
    try:
        # Some editors begin a file with a byte order mark.
        text = _content(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StudyError([f"{shown(path)}: cannot be read: {reason}. {remedy}"]) from error
    try:
        verify_text(text)
        tables = tomllib.loads(text)
        verify_tables(tables)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
        raise StudyError([f"{shown(path)}: not valid TOML: {reason}.{_line_of(reason, text)}"]) from None
    return tables


def _line_of(reason: str, text: str) -> str:
    """Show the line that an error names."""
    found = re.search(r"at line (\d+)", reason)
    lines = text.split("\n")
    if found is None or int(found[1]) > len(lines) or not lines[int(found[1]) - 1].strip():
        return ""
    line = lines[int(found[1]) - 1].strip()
    quotes = " A text stands in quotes." if "Invalid value" in reason else ""
    return f" That line: {line[:LONGEST_LINE]!r}.{quotes}"


def _content(path: Path) -> bytes:
    """Return what a file holds; raises OSError and ValueError. A pipe or a device would be read for ever."""
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        raise ValueError("it is not a regular file")
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise ValueError(f"it has more than {LARGEST_BYTES >> 10} KiB")
    return content


def shown(path: Path) -> str:
    """Name a file as short as possible from the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except (OSError, RuntimeError, ValueError):  # a link that leads to itself is a RuntimeError
        return str(path)
