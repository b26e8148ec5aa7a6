"""Writes ``details.tex``: every cell, for the appendix of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import details_latex
from ..words.caption import describe_conditions
from ..words.language import _
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "details.tex"


def write(report: Report, folder: Path) -> list[Path]:
    found = report.speed_ups
    if found is None:
        return write_text(
            folder / NAME, f"% {_('There is no table: nothing was measured, or nothing of the baseline.')}\n"
        )
    return write_text(folder / NAME, details_latex.render(found, describe_conditions(report.manifest, found.results)))
