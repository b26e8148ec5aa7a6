"""Writes ``environments.json``: what each environment holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import json
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "environments.json"


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, json.render(report.manifest.environments))
