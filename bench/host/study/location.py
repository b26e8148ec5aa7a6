"""Finds the study file of an invocation, and reads its tables.

The noxfile and every command use it, so all of them mean the same file. nox imports it for ``nox -l``, so it needs the
standard library alone.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..refusal import Refused

#: Names the study file where the command line does not.
VARIABLE = "BENCHMATRIX_MATRIX"
#: The study file of a project.
NAME = "matrix.toml"


class StudyError(Refused):
    """A study file, or a selection from it, is wrong; ``errors`` holds every problem found, one a line."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = tuple(errors)


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the study file; ``locate`` takes its value."""
    text = f"the study file; {VARIABLE} or {NAME} by default"
    parser.add_argument("--matrix", type=Path, metavar="FILE", help=text)


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


def read(path: Path) -> dict[str, Any]:
    """Return the tables of the study file at ``path``. Raises StudyError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StudyError([f"{shown(path)}: cannot be read: {reason}. Name a study file with --matrix FILE."]) from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise StudyError([f"{shown(path)}: not valid TOML: {error}."]) from error


def shown(path: Path) -> str:
    """Name a file as short as possible from the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except (OSError, ValueError):
        return str(path)
