"""Writes ``table.tex``: all tables as LaTeX, for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import latex
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "table.tex"


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, latex.document(report.tables))
