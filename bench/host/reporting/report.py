"""Makes the report of a run: its tables, ready to be written as files and printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from bench.cell import Cell
from bench.record import Record

from .. import garbage_collection
from ..analysis import parts
from ..analysis.claims import answer
from ..analysis.ranking import Ranked, RankedColumn, rank
from ..analysis.run_analysis import Analysis, analyse, every_cell
from ..storage.manifest import Manifest
from ..study.claim import Claim
from .outputs import Written, write_all
from .outputs.output import Output
from .renderers import terminal
from .tables import claims as claims_table
from .tables import containers, costs, details, latency, overview, settings, speedups, times
from .tables import ranking as ranking_table
from .tables.speedup_values import SpeedUps, speed_ups
from .tables.table import Table
from .words.caption import describe_conditions, title_of
from .words.language import Language, current, writing_in
from .words.ranking import no_ranking_remark

Made = TypeVar("Made")


def on_demand(make: Callable[[Report], Made]) -> cached_property[Made]:
    """Make a part of a report when somebody asks for it, once, in the language of the report."""

    def made(report: Report) -> Made:
        with writing_in(report.language):
            return make(report)

    return cached_property(made)


@dataclass(frozen=True)
class Report:
    """What is reported of one run, ready to be written and printed.

    Not every output shows every table. So those who share the outputs share the work of making the tables, too.
    """

    manifest: Manifest
    title: str
    analysis: Analysis
    ranked: Ranked
    #: Every column compared with the baseline; None where nothing was measured, or nothing of the baseline.
    speed_ups: SpeedUps | None
    #: What a run ends with; None without speed-ups.
    speed_up_table: Table | None
    #: None where no settings differ.
    settings: Table | None
    #: The claims of the study with their answers, and what lies behind them; empty where it has none.
    claims: tuple[Table, ...]
    language: Language
    #: The folder of the run, for the logs of its workers; None where they are not at hand.
    folder: Path | None
    #: (option, value) of the command that chose the run, its cells and the place of the files; a folder of a run has
    #: no option. The page repeats them.
    chosen_by: tuple[tuple[str, str], ...] = ()

    @property
    def rankings(self) -> tuple[RankedColumn, ...]:
        return self.ranked.columns

    @on_demand
    def main(self) -> Table:
        """What a reader sees first: speed-ups; without a baseline, times; of a trial, which cells are right."""
        if self.speed_up_table is None or self.manifest.profile.trial:
            return overview.summarise(self.analysis, self.manifest)
        return self.speed_up_table

    @on_demand
    def summary(self) -> Table:
        """The times of all cells, side by side."""
        remark = no_ranking_remark(self.ranked, self.analysis.results)
        return times.summarise(self.analysis, self.manifest, ranking=remark)

    @on_demand
    def details(self) -> Table:
        return details.detail(self.analysis, self.manifest)

    @on_demand
    def latency(self) -> Table | None:
        """None where no steps were timed one by one."""
        return latency.table(self.analysis, self.manifest)

    @on_demand
    def costs(self) -> Table | None:
        """None where nothing was measured."""
        return costs.account(self.analysis, self.manifest)

    @on_demand
    def ranking(self) -> Table | None:
        """None where there is too little to rank."""
        return ranking_table.show(self.ranked, self.analysis, self.manifest)

    @on_demand
    def containers(self) -> Table | None:
        """What containers cost; None where none has its venv beside it."""
        return containers.table(self.analysis, self.manifest)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them, in the order of the files: the first with its conditions, then the details."""
        conditions = describe_conditions(self.manifest, self.analysis.results)
        main = replace(self.main, caption=f"{self.main.caption}. {conditions}")
        every = (
            main,
            *self.claims,
            self.settings,
            self.summary,
            self.details,
            self.latency,
            self.costs,
            self.ranking,
            self.containers,
        )
        return tuple(table for table in every if table is not None)

    def write(self, folder: Path, extra: Iterable[Output] = (), *, every_figure: bool = False) -> Written:
        """Write the files of the report into ``folder``, with the outputs in ``extra``; each is replaced whole.

        Without ``every_figure`` the figures are that of the speed-ups and those that ``folder`` has already.
        """
        with writing_in(self.language), garbage_collection.paused():
            return write_all(self, folder, extra, every_figure=every_figure)

    def print(self, console: Console, *, details: bool = False) -> None:
        """Print the first table; with ``details``, all but the times side by side, which are as wide as columns."""
        with writing_in(self.language), garbage_collection.paused():
            terminal.render(console, self.main)
            for table in self.tables[1:] if details else self.claims[:1]:
                if table is not self.summary:
                    console.print()
                    terminal.render(console, table)


def make(
    records: Iterable[Record],
    manifest: Manifest,
    language: Language | None = None,
    folder: Path | None = None,
    claims: Iterable[Claim] = (),
    shown: Callable[[Cell], bool] = every_cell,
    chosen_by: tuple[tuple[str, str], ...] = (),
) -> Report:
    """Make the report of a run, finished or not, from its records and its manifest; of the cells that are ``shown``.

    It is written in ``language``; without one, in the language that the caller writes in. It answers the ``claims``.
    """
    language = language or current()
    with writing_in(language), garbage_collection.paused():
        analysis = analyse(records, manifest, shown)
        manifest = parts.limit(manifest, analysis.results)
        ranked = rank(analysis, manifest)
        compared = speed_ups(analysis, manifest)
        first = compared.tracks[0] if compared is not None and compared.tracks else None
        leaders = () if first is None else ranked.leaders(first.device, first.threads)
        ranked_track = None if first is None else ranked.track(first.device, first.threads)
        best_modes = None if ranked_track is None else ranked_track.best_modes
        return Report(
            manifest,
            title_of(manifest),
            analysis,
            ranked,
            compared,
            None if compared is None else speedups.summarise(compared, manifest, leaders, best_modes),
            settings.compare(analysis, manifest),
            claims_table.tables(answer(claims, analysis, manifest), analysis, manifest),
            language,
            folder,
            chosen_by,
        )
