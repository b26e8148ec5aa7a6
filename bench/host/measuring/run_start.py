"""Opens the run in a folder: continues an unfinished one, or archives what is there and begins a new one.

An archived run comes back where the new one has no results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.record import OK, OUTSIDE, Record

from ..analysis.noise_watch import withheld_cells
from ..analysis.run_notes import NAMED_LINES
from ..analysis.versions import names_to_store
from ..counts import counted
from ..environments import Prepared
from ..refusal import Refused, naming
from ..storage import archive, journal, manifest, moves
from ..storage.identity import identity, programs
from ..storage.manifest import Manifest, ProfileSummary, StudySummary
from ..study import location
from ..study.plan import Plan
from ..study.schema import Study
from ..study.twin import original


@dataclass(frozen=True)
class RunStart:
    """The folder of a run, and what one invocation is to measure there."""

    root: Path
    folder: Path
    study: Study
    plan: Plan
    prepared: Mapping[str, Prepared]
    announce: Callable[[str], None]
    #: The machine that measures: see ``bench.host.machine.facts``.
    machine: Mapping[str, Any]
    #: The name that the person gives the run.
    label: str = ""

    def open(self, *, fresh: bool, forget: Callable[[str], None]) -> tuple[Manifest, Path | None]:
        """Return the manifest of the run to measure: an unfinished one of the same identity, or a new one.

        Also return where the previous run was moved, if it was. ``forget`` removes the compilation caches of an earlier
        run, given its name.
        """
        environments = {name: prepared.manifest for name, prepared in self.prepared.items()}
        key = identity(self.root, self.study, self.plan, self.prepared, self.machine)
        with naming(self.folder):
            # When this command looked for such files, a killed one may still have been moving them.
            moves.restore(self.folder)
        before = manifest.read(self.folder)
        if before and before.identity == key and not before.finished and not fresh:
            damaged: list[str] = []
            done = len(journal.read(self.folder, damaged))
            for line in damaged[:NAMED_LINES]:
                self.announce(f"Left out: {line}; its process is measured again.")
            recorded = f"{counted(done, 'process', 'processes')} recorded"
            self.announce(f"Continuing the run of {before.started} ({recorded}; --fresh starts over).")
            # A command that continues a run may give another name, budget or baseline, or be strict.
            continued = replace(
                before,
                label=self.label or before.label,
                study=replace(before.study, baseline=self.plan.baseline, ratios=self.plan.ratios),
                budget_s=self.plan.budget_s,
                strict=self.plan.strict,
                environments=environments,
            )
            return continued, None
        begun = self._begin(key, environments)
        moved = archive.archive(self.folder)
        try:
            manifest.write(self.folder, begun)
        except Refused:
            # The disk is full: what a person has must stay where it is.
            if moved is not None:
                archive.put_back(self.folder, moved)
            raise
        if before:
            forget(before.run)
        if moved is not None:
            self.announce(f"The previous run was moved to {moved.relative_to(self.root)}.")
        return begun, moved

    def _begin(self, key: str, environments: Mapping[str, Mapping[str, object]]) -> Manifest:
        """Describe a new run of the plan."""
        settings, now = self.study.settings, time.gmtime()
        return Manifest(
            run=f"{time.strftime('%Y%m%d-%H%M%S', now)}-{key[:6]}",
            label=self.label,
            identity=key,
            started=time.strftime("%Y-%m-%d %H:%M:%S", now),
            study=StudySummary(
                settings.name,
                settings.title,
                self.plan.baseline,
                self.plan.ratios,
                location.named_from(self.root, self.study.file),
            ),
            profile=ProfileSummary.of(self.plan.profile),
            seed=self.plan.seed,
            threads=self.plan.threads,
            machine=self.machine,
            frameworks=names_to_store(self.study.registry, [*self.plan.cells, *dict(self.plan.excluded)]),
            environments=environments,
            programs=programs(self.study.registry, self.plan),
            looks=self.plan.looks,
            budget_s=self.plan.budget_s,
            strict=self.plan.strict,
            planned=self.plan.cells,
            excluded=self.plan.excluded,
            finished=False,
        )

    def cells_and_records(self, run: str) -> tuple[list[Cell], list[Record]]:
        """Return the cells that can run, and the records so far; a cell that cannot run gets a record."""
        book = journal.Journal(self.folder)
        ready = {name for name, prepared in self.prepared.items() if prepared.status == OK}
        # An environment that failed before and is ready now is measured after all.
        records = [
            record
            for record in journal.read(self.folder)
            if record.stage != OUTSIDE or original(record.cell.environment) not in ready
        ]
        for cell in self.plan.cells:
            prepared = self.prepared[original(cell.environment)]
            if prepared.status != OK and not any(record.cell == cell for record in records):
                record = without_environment(cell, run, prepared)
                book.append(record)
                records.append(record)
        return [cell for cell in self.plan.cells if original(cell.environment) in ready], records

    def keep_results(self, records: list[Record], archived: Path) -> None:
        """Put the results of the run before back where this one has none that a report shows, and that one has some.

        Times that other programs disturbed are no results: reports withhold them. A trial is there to tell what is
        wrong: its report stays.
        """
        if self.plan.profile.trial or _has_results(records):
            return
        measured = any(record.status == OK for record in records)
        before = journal.read(archived)
        # Between two runs without results, one with times that could be looked at is worth more.
        if _has_results(before) or (not measured and any(record.status == OK for record in before)):
            failed = archive.put_back(self.folder, archived)
            if failed is not None:
                why = "Other programs disturbed every cell that was measured" if measured else "No cell was measured"
                self.announce(
                    f"{why}, so {self.folder.relative_to(self.root)} has the results of the run before "
                    f"again. This run, its page and its logs are in {failed.relative_to(self.root)}."
                )


def _has_results(records: Sequence[Record]) -> bool:
    """Tell whether any cell was measured and has a time that reports show."""
    return bool({record.cell for record in records if record.status == OK} - withheld_cells(records))


def without_environment(cell: Cell, run: str, prepared: Prepared) -> Record:
    """Return the record of a cell whose environment could not be prepared."""
    return Record(
        cell=cell,
        round=0,
        attempt=1,
        status=prepared.status,
        stage=prepared.stage or "environment",
        reason=prepared.reason or "the environment could not be prepared",
        run=run,
        started_at=time.time(),
    )
