"""Knows the files of a report: the tables of a study, and the machine and environments beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.record import Record

from .bootstrap.aside import write_whole
from .tables import csv, latex, markdown, terminal
from .tables.caption import Conditions
from .tables.comparison import detail, summarise
from .tables.results import Result, analyse
from .tables.table import Table


@dataclass(frozen=True)
class Report:
    """What is reported of one run, ready to be written and printed."""

    run: Mapping[str, Any]
    title: str
    results: tuple[Result, ...]
    summary: Table
    details: Table

    def write(self, folder: Path) -> list[Path]:
        """Write the files of the report into ``folder`` and return them; each is replaced whole."""
        contents = {
            "table.md": markdown.document(self.title, (self.summary, self.details)),
            "table.tex": latex.document((self.summary, self.details)),
            "table.csv": csv.render(self.results),
            "machine.json": _json(self.run.get("machine")),
            "environments.json": _json(self.run.get("environments")),
        }
        for name, text in contents.items():
            write_whole(folder / name, text)
        return [folder / name for name in contents]

    def print(self, console: Console) -> None:
        """Print the details."""
        terminal.render(console, self.details)


def make(records: Iterable[Record], run: Mapping[str, Any]) -> Report:
    """Make the report of a run, finished or not, from its records and the content of its run.json."""
    conditions = Conditions.of(run)
    results = analyse(records, conditions.planned, conditions.excluded, conditions.baseline)
    return Report(run, conditions.title, tuple(results), summarise(results, conditions), detail(results, conditions))


def _json(value: Any) -> str:
    return json.dumps(value or {}, indent=2, ensure_ascii=False) + "\n"
