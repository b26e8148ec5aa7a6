"""Writes ``machine.json``: the machine that the study ran on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..renderers import json
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "machine.json"


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, json.render(report.manifest.machine))
