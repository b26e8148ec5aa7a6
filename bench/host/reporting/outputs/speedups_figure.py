"""Writes ``figures/speedups`` as PDF, SVG and PNG: every speed-up over the baseline with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import figure_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..report import Report

NAME = "figures/speedups"


def write(report: Report, folder: Path) -> list[Path]:
    def draw() -> Figure | None:
        from ..figures import speedups

        return speedups.draw(found) if found else None

    found = report.speed_ups
    return figure_files.write(draw, folder / "figures", "speedups") if found else []
