r"""Writes ``macros.tex``: a LaTeX command for each time and each speed-up, so that a text can cite ``\bmSpeedup…``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import macros_latex
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "macros.tex"


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, macros_latex.render(report.speed_ups))
