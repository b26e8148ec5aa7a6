"""Writes ``claims.md``: the claims of a study with their answers; no file where the study has none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import markdown
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "claims.md"


def write(report: Report, folder: Path) -> list[Path]:
    if not report.claims:
        return []
    return write_text(folder / NAME, markdown.document(report.title, report.claims))
