"""Knows the files of a report: the tables of a study, and the machine and environments beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.record import Record

from ..analysis import ranking
from ..analysis.conditions import Conditions
from ..analysis.run_analysis import Analysis, analyse
from ..setup.staging import write_whole
from .renderers import csv, latex, markdown, terminal
from .tables import containers, costs, times
from .tables import ranking as ranking_table
from .tables.table import Table


@dataclass(frozen=True)
class Report:
    """What is reported of one run, ready to be written and printed."""

    run: Mapping[str, Any]
    title: str
    analysis: Analysis
    rankings: tuple[ranking.Place, ...]
    summary: Table
    details: Table
    #: None where nothing was measured.
    costs: Table | None
    #: None where there is too little to rank.
    ranking: Table | None
    #: What containers cost; None where none has its venv beside it.
    containers: Table | None

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them, in the order of the files."""
        every = (self.summary, self.details, self.costs, self.ranking, self.containers)
        return tuple(table for table in every if table is not None)

    def write(self, folder: Path) -> list[Path]:
        """Write the files of the report into ``folder`` and return them; each is replaced whole."""
        contents = {
            "table.md": markdown.document(self.title, self.tables),
            "table.tex": latex.document(self.tables),
            "table.csv": csv.render((*self.analysis.results, *self.analysis.twins)),
            "ranking.csv": csv.render_ranking(self.rankings),
            "machine.json": _json(self.run.get("machine")),
            "environments.json": _json(self.run.get("environments")),
        }
        for name, text in contents.items():
            write_whole(folder / name, text)
        return [folder / name for name in contents]

    def print(self, console: Console) -> None:
        """Print all but the summary, which is as wide as there are columns."""
        for table in self.tables[1:]:
            terminal.render(console, table)
            console.print()


def make(records: Iterable[Record], run: Mapping[str, Any]) -> Report:
    """Make the report of a run, finished or not, from its records and the content of its run.json."""
    conditions = Conditions.of(run)
    analysis = analyse(records, conditions)
    ranked = ranking.rank(analysis, conditions)
    return Report(
        run,
        conditions.title,
        analysis,
        ranked.places,
        times.summarise(analysis, conditions, ranking=ranked.remark),
        times.detail(analysis, conditions),
        costs.account(analysis, conditions),
        ranking_table.show(ranked, analysis, conditions),
        containers.table(analysis, conditions, run.get("environments") or {}),
    )


def _json(value: Any) -> str:
    return json.dumps(value or {}, indent=2, ensure_ascii=False) + "\n"
