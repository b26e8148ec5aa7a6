"""Writes ``ranking.csv``: one row per column in the order of the ranking; only a heading where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...analysis.ranking import FACTORS, RankedColumn
from ..renderers import csv
from ..renderers.csv import Value
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "ranking.csv"


def _share(factor: float) -> Callable[[RankedColumn], Value]:
    return lambda place: place.profile.share(factor) if place.profile else None


FIELDS: dict[str, Callable[[RankedColumn], Value]] = {
    "column": lambda p: p.column,
    "device": lambda p: p.device,
    "threads": lambda p: p.threads,
    "ratio": lambda p: p.standing.ratio.value if p.standing else None,
    "ratio_low": lambda p: p.standing.ratio.low if p.standing else None,
    "ratio_high": lambda p: p.standing.ratio.high if p.standing else None,
    "rows": lambda p: p.standing.ratio.n if p.standing else None,
    "rank": lambda p: p.standing.rank if p.standing else None,
    "best_rank": lambda p: p.standing.best_rank if p.standing else None,
    "worst_rank": lambda p: p.standing.worst_rank if p.standing else None,
    "profile_rows": lambda p: len(p.profile.factors) if p.profile else None,
    **{f"share_within_{factor:g}": _share(factor) for factor in FACTORS},
    "share_solved": lambda p: p.profile.solved if p.profile else None,
}


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, csv.render(FIELDS, report.rankings))
