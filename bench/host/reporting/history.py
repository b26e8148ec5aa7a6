"""Writes and prints what is reported of the versions of a framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from bench.cell import Cell
from bench.record import Record

from ..analysis.release_history import History, analyse_history
from ..analysis.releases import Members
from ..analysis.run_analysis import every_cell
from ..storage.manifest import Manifest
from .outputs import versions_csv
from .outputs.output import write_text
from .renderers import figure_files, latex, markdown, terminal
from .tables import history as tables
from .tables import upgrade
from .tables.table import Table
from .words.caption import title_of

MARKDOWN, LATEX, FIGURES = "versions.md", "versions.tex", "figures"


@dataclass(frozen=True)
class HistoryReport:
    """The tables and figures of the versions of one run."""

    manifest: Manifest
    history: History
    #: The answer, a table per family.
    overviews: tuple[Table, ...]
    #: Times, costs and installations, in detail.
    tables: tuple[Table, ...]

    def write(self, folder: Path) -> list[Path]:
        """Write ``versions.csv``, ``versions.md``, ``versions.tex`` and a figure per workload; return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        every = (*self.overviews, *self.tables)
        return [
            *write_text(folder / MARKDOWN, markdown.document(title_of(self.manifest), every)),
            *write_text(folder / LATEX, latex.document(every)),
            *write_text(folder / versions_csv.NAME, versions_csv.render(self.history)),
            *self._draw(folder / FIGURES),
        ]

    def _draw(self, folder: Path) -> list[Path]:
        # matplotlib takes a third of a second to import, which printing need not wait for.
        from .figures import versions

        for path in folder.glob("versions-*"):
            # The numbers of an earlier report may not be those of this one.
            path.unlink()
        paths = []
        for name, courses in versions.by_workload(self.history).items():
            paths += figure_files.write(partial(versions.draw, courses), folder, f"versions-{name}")
        return paths

    def print(self, console: Console, *, details: bool = False) -> None:
        """Print the answer and the environments; with ``details`` the intervals, first calls, memory and break-even."""
        for number, table in enumerate((*self.overviews, *(self.tables if details else self.tables[-1:]))):
            if number:
                console.print()
            terminal.render(console, table, MARKDOWN)


def make(
    records: Iterable[Record],
    manifest: Manifest,
    members: Members,
    *,
    against: str | None = None,
    shown: Callable[[Cell], bool] = every_cell,
) -> HistoryReport:
    """Make the report in the language that the caller writes in, of the cells that are ``shown``."""
    history = analyse_history(records, manifest, members, against=against, shown=shown)
    return HistoryReport(manifest, history, upgrade.overviews(history, manifest), tables.tables(history, manifest))
