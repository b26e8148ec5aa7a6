"""Writes ``summary.tex``: the speed-ups over the baseline as a tabular for one column of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import paper_latex
from .output import write_paper_table

if TYPE_CHECKING:
    from ..report import Report

NAME = "summary.tex"


def write(report: Report, folder: Path) -> list[Path]:
    return write_paper_table(report, folder / NAME, paper_latex.render)
