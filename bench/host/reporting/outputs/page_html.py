"""Writes ``report.html``: the whole report as one page for a browser, which needs no network and no other file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..page import content, document
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "report.html"


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, document.assemble(content.of_report(report)))
