"""Writes every figure as PDF, SVG and PNG into ``figures/``; one that a run has nothing for is not written.

To add a figure, add a module with ``draw(report)`` to ``bench/host/reporting/figures`` and its name to ``NAMES``.
"""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import figure_files
from .output import Output

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..report import Report

FOLDER = "figures"
NAMES = ("speedups", "distributions", "startup", "break-even", "scaling", "roofline", "memory", "profiles")
MODULES = Path(__file__).resolve().parents[1] / FOLDER


def write(name: str, report: Report, folder: Path) -> list[Path]:
    """Draw one figure and write its files; none where there is nothing to draw."""

    def draw() -> Figure | None:
        # matplotlib is imported where something is drawn, and nowhere else.
        module = importlib.import_module(f"...{FOLDER}.{_module(name)}", __name__)
        figure: Figure | None = module.draw(report)
        return figure

    return figure_files.write(draw, folder / FOLDER, name) if report.speed_ups else []


def _module(name: str) -> str:
    return name.replace("-", "_")


def remove(output: Output, folder: Path) -> None:
    """Remove what an earlier report left in ``folder`` and for which this one has no numbers."""
    for ending in ("", *(f".{ending}" for ending in figure_files.METADATA)):
        (folder / f"{output.name}{ending}").unlink(missing_ok=True)


def is_kept(output: Output, folder: Path) -> bool:
    """Tell whether an output is written unasked: any but a figure on request that ``folder`` does not have yet.

    A figure that an earlier report left is drawn again, so that it shows the numbers of this one.
    """
    return output not in ON_REQUEST or any((folder / f"{output.name}.{end}").exists() for end in figure_files.METADATA)


OUTPUTS = tuple(Output(f"{FOLDER}/{name}", partial(write, name), MODULES / f"{_module(name)}.py") for name in NAMES)
#: Together they take seconds, for which nobody waits at the end of a run: an option draws them.
ON_REQUEST = OUTPUTS[1:]
