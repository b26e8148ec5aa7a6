"""Writes ``details.tex``: every cell, for the appendix of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import details_latex
from .output import write_paper_table

if TYPE_CHECKING:
    from ..report import Report

NAME = "details.tex"


def write(report: Report, folder: Path) -> list[Path]:
    return write_paper_table(report, folder / NAME, details_latex.render)
