"""Writes ``table.md``: all tables on one page of Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import markdown
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "table.md"


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, markdown.document(report.title, report.tables))
