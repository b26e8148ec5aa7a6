"""Writes ``summary.tex``: the speed-ups over the baseline as a tabular for one column of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import paper_latex
from ..words.caption import describe_conditions
from ..words.language import _
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "summary.tex"


def write(report: Report, folder: Path) -> list[Path]:
    found = report.speed_ups
    if found is None:
        return write_text(
            folder / NAME, f"% {_('There is no table: nothing was measured, or nothing of the baseline.')}\n"
        )
    return write_text(folder / NAME, paper_latex.render(found, describe_conditions(report.manifest, found.results)))
