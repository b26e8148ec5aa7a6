"""Folds the lines that a command prints for a narrow terminal; in a file or a pipe a row stays one line."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

#: Letters of a line of prose at most, however wide the terminal is.
PROSE = 80
#: What the next lines of a folded one stand in from its own indent.
HANGING = 4


def terminal_width() -> int:
    """Return how many letters a line of the terminal holds; 0 where the output goes somewhere else."""
    return shutil.get_terminal_size((0, 0)).columns


def fold(line: str, hanging: int = HANGING) -> str:
    """Fold a line at its blanks where the terminal is narrower; the next lines stand ``hanging`` letters further in."""
    return _fold(line, len(line) - len(line.lstrip()) + hanging)


def fold_prose(text: str) -> str:
    """Break a text of several sentences into lines."""
    return "\n".join(_wrapped(text, min(terminal_width() or PROSE, PROSE), ""))


def fold_rows(table: str, names: Sequence[str]) -> list[str]:
    """Fold the rows of a table whose last column has the ``names``: these are broken at their blanks."""
    lines = table.splitlines()
    if len(lines) != len(names):
        # A name from somebody else's file has a line break in it.
        return lines
    return [_fold(line, len(line) - len(name)) for line, name in zip(lines, names, strict=True)]


def _fold(line: str, indent: int) -> str:
    width = terminal_width()
    return line if not width or len(line) <= width else "\n".join(_wrapped(line, width, " " * indent))


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, expand_tabs=False
    )
