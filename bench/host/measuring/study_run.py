"""Knows how an invocation becomes a run: its files, what an earlier invocation left, and its report."""

from __future__ import annotations

import contextlib
import signal
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from bench.cell import Cell
from bench.record import OK, UNSUPPORTED, Record

from ..analysis.peaks import implausible
from ..analysis.run_analysis import settled_rows
from ..environments import Prepared
from ..executors.starter import Starter
from ..machine import facts, processors
from ..project import STATE
from ..reporting import report
from ..reporting.progress import Display, RemainingTime
from ..reporting.words.numbers import duration
from ..storage import input_data, journal, manifest
from ..storage.compile_caches import CompileCaches
from ..storage.identity import identity
from ..storage.manifest import Manifest, ProfileSummary, StudySummary
from ..storage.references import References
from ..study.plan import Plan
from ..study.rows import group_by_row
from ..study.schema import Study
from ..study.twin import is_twin, original
from . import largest_batch, peaks, rounds
from .stopping import Stops

#: A worker that asks for more than this share of the free memory gets an error instead of bringing the machine down.
MEMORY_SHARE = 0.9


class StudyRun:
    """One run of a study in ``root``."""

    def __init__(
        self, root: Path, study: Study, plan: Plan, prepared: Mapping[str, Prepared], console: Console
    ) -> None:
        self._root = root
        self._study = study
        self._plan = plan
        self._prepared = prepared
        self._console = console
        self.folder = root / "reports" / study.settings.name

    def measure(self, *, fresh: bool) -> list[Record]:
        """Measure what is left of the plan and write the report; return all records of the run.

        KeyboardInterrupt passes through after the report of what there is has been written.
        """
        self._manifest = self._open(fresh)
        cells, records = self._sort_out()
        starter = self._starter()
        under_way = self._run(cells, records, starter)
        estimate = RemainingTime()
        began = time.monotonic()
        try:
            with Display(self._console, estimate) as display:
                with self._waiting():
                    self._measure_peaks(cells, starter, display)
                under_way.measure(display, estimate)
                with self._waiting():
                    self._find_largest_batches(under_way.records, starter, display)
            # A cell that lost its container engine is measured after all when the run is continued.
            lost = [record for record in under_way.records if record.stage == "environment" and record.cell in cells]
            self._manifest = replace(self._manifest, finished=not lost)
            if not lost:
                self._caches(self._manifest.run).drop()
        finally:
            self._manifest = replace(
                self._manifest.spend(elapsed=time.monotonic() - began, waited_for_workers=under_way.waited_s),
                stopped=under_way.stops.made,
                host_peak_bytes=max(self._manifest.host_peak_bytes, facts.own_peak_bytes()),
            )
            manifest.write(self.folder, self._manifest)
            # A second Ctrl-C must not cut the report short.
            with _ignoring_interrupts():
                self._report(under_way.records)
        return under_way.records

    def _open(self, fresh: bool) -> Manifest:
        """Continue the run in the folder if it is this one and unfinished; otherwise archive it and begin."""
        environments = {name: prepared.manifest for name, prepared in self._prepared.items()}
        key = identity(self._root, self._study, self._plan, self._prepared)
        before = manifest.read(self.folder)
        if before and before.identity == key and not before.finished and not fresh:
            done = len(journal.read(self.folder))
            self._say(f"Continuing the run of {before.started} ({done} processes recorded; --fresh starts over).")
            # A command that continues a run may give another budget, or be strict.
            return replace(before, budget_s=self._plan.budget_s, strict=self._plan.strict, environments=environments)
        if before:
            self._caches(before.run).drop()
        moved = journal.archive(self.folder)
        if moved is not None:
            self._say(f"The previous run was moved to {moved.relative_to(self._root)}.")
        begun = self._begin(key, environments)
        manifest.write(self.folder, begun)
        return begun

    def _begin(self, key: str, environments: Mapping[str, Mapping[str, object]]) -> Manifest:
        """Describe a new run of the plan on this machine."""
        settings = self._study.settings
        return Manifest(
            run=f"{time.strftime('%Y%m%d-%H%M%S')}-{key[:6]}",
            identity=key,
            started=time.strftime("%Y-%m-%d %H:%M:%S"),
            study=StudySummary(settings.name, settings.title, settings.baseline),
            profile=ProfileSummary(**self._plan.profile.model_dump()),
            seed=self._plan.seed,
            threads=self._plan.threads,
            machine=facts.describe(),
            environments=environments,
            looks=self._plan.looks,
            budget_s=self._plan.budget_s,
            strict=self._plan.strict,
            planned=self._plan.cells,
            excluded=self._plan.excluded,
            finished=False,
        )

    def _sort_out(self) -> tuple[list[Cell], list[Record]]:
        """Return the cells that can run, and the records that there are; a cell that cannot run gets one."""
        book = journal.Journal(self.folder)
        ready = {name for name, prepared in self._prepared.items() if prepared.status == OK}
        # What could not be built at first and can be now is measured after all.
        records = [
            record
            for record in journal.read(self.folder)
            if record.stage != "environment" or original(record.cell.environment) not in ready
        ]
        for cell in self._plan.cells:
            prepared = self._prepared[original(cell.environment)]
            if prepared.status != OK and not any(record.cell == cell for record in records):
                record = rounds.refused(
                    cell,
                    self._manifest.run,
                    status=prepared.status,
                    stage=prepared.stage or "environment",
                    reason=prepared.reason or "the environment could not be prepared",
                )
                book.append(record)
                records.append(record)
        return [cell for cell in self._plan.cells if original(cell.environment) in ready], records

    def _run(self, cells: list[Cell], records: list[Record], starter: Starter) -> rounds.Run:
        conditions = rounds.Conditions(
            run=self._manifest.run,
            profile=self._plan.profile,
            seed=self._plan.seed,
            processors=starter.processors,
            data={
                name: input_data.resolve(
                    name,
                    self._study.workloads[name].data,
                    folder=self._root / STATE / "data",
                    announce=self._say,
                    registry=self._study.registry,
                )
                for name in {cell.workload for cell in cells}
            },
            memory_limit_bytes=starter.memory_limit_bytes,
            # Another run of the same study is another draw of orders and layouts; this run's go on when it does.
            order_seed=zlib.crc32(f"{self._plan.seed}/{self._manifest.run}".encode()),
            implausible=lambda record: implausible(record, self._manifest.peaks),
        )
        budget_s = self._plan.budget_s
        left_s = None if budget_s is None else budget_s - self._manifest.seconds.elapsed

        def settled(records: Sequence[Record], rounds: int) -> list[str]:
            return settled_rows(records, replace(self._manifest, stopped=stops.made))

        stops = Stops(list(group_by_row(cells)), self._plan.looks, settled, left_s)
        return rounds.Run(
            cells,
            conditions,
            journal.Journal(self.folder),
            References(
                self._root, self._root / STATE / "references", self._plan.seed, self._plan.threads, self._study.registry
            ),
            lambda cell, number, attempt, layout: starter.start(cell, f"r{number + 1}.a{attempt}", layout),
            starter.caches,
            stops,
            records,
        )

    def _starter(self) -> Starter:
        bound = processors.chosen(self._plan.threads)
        data = {name: choice.data for name, choice in self._study.workloads.items()}
        limit = int(facts.available_bytes() * MEMORY_SHARE)
        caches = self._caches(self._manifest.run)
        return Starter(self._root, self.folder, self._prepared, self._study.environments, caches, bound, data, limit)

    def _measure_peaks(self, cells: list[Cell], starter: Starter, display: Display) -> None:
        """Measure what the machine can do at most, once a run, with every framework that takes part."""
        if not self._plan.profile.peaks:
            return
        for cell, precisions in peaks.probes(cell for cell in cells if not is_twin(cell)):
            key = f"{cell.environment}/{cell.device}"
            if key not in self._manifest.peaks:
                display.at(f"measuring the peaks of this machine with {cell.environment}", 0)
                found = peaks.measure(cell, precisions, lambda cell: starter.start(cell, "peaks"))
                self._manifest = replace(self._manifest, peaks={**self._manifest.peaks, key: found})
        manifest.write(self.folder, self._manifest)

    def _find_largest_batches(self, records: list[Record], starter: Starter, display: Display) -> None:
        """Find the largest batch of every cell that ran, where the plan has a cap."""
        cap = self._plan.memory_cap_bytes
        if cap is None:
            return
        measured = dict.fromkeys(r.cell for r in records if r.status == OK and not is_twin(r.cell))
        for cell in measured:
            if cell.name not in self._manifest.largest_batch:
                display.at(f"finding the largest batch of {cell.name}", len(records))
                found = largest_batch.measure(cell, cap, self._plan.seed, lambda cell: starter.start(cell, "batch"))
                known = {**self._manifest.largest_batch, cell.name: found.to_json()}
                self._manifest = replace(self._manifest, largest_batch=known)

    def _caches(self, name: str) -> CompileCaches:
        manifests = {environment: prepared.manifest for environment, prepared in self._prepared.items()}
        kept = self._plan.profile.compile_cache == "kept"
        return CompileCaches(self._root / STATE / "compile-caches", name, kept, manifests, self._study.registry)

    def _report(self, records: list[Record]) -> None:
        made = report.make(records, self._manifest)
        written = made.write(self.folder)
        made.print(self._console)
        self._say(f"Measured for {duration(self._manifest.seconds.elapsed)}.")
        for path in written.paths:
            self._say(f"  {path.relative_to(self._root)}")
        for problem in written.problems:
            self._say(f"Not written: {problem}")

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        """Count the time in which the host only waits for workers."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._manifest = self._manifest.spend(waited_for_workers=time.monotonic() - began)

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextlib.contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def exit_code(records: list[Record]) -> int:
    """Return 0 when something was measured or nothing can be here, 1 when all there is are failures."""
    if any(record.status == OK for record in records):
        return 0
    return 0 if all(record.status == UNSUPPORTED for record in records) else 1
