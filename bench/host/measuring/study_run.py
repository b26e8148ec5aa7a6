"""Measures a study: opens the run, has its limits and rows measured, and writes the report."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from bench.cell import Cell
from bench.record import OUTSIDE, Record

from ..analysis.plan_time import estimate_s
from ..analysis.run_analysis import undecided_cells
from ..environments import Prepared, altered
from ..executors import lanes
from ..executors.job import InstalledEnvironment, describe_each
from ..executors.local import LocalExecutor
from ..interrupts import ignoring_interrupts, interrupted_by_signals
from ..machine import facts
from ..project import COMPILE_CACHES, STATE
from ..reporting import outputs, report
from ..reporting.progress import Display, RemainingTime
from ..reporting.renderers import terminal
from ..reporting.words.files import name_files
from ..reporting.words.numbers import duration
from ..storage import archive, identity, input_data, journal, manifest, source_files
from ..storage.compile_caches import CompileCaches
from ..study.plan import Plan
from ..study.rows import group_by_row
from ..study.schema import Study
from . import kept, rounds
from .limits import Limits
from .noise_alarm import NoiseAlarm
from .open_manifest import OpenManifest
from .run_start import RunStart
from .stopping import Stops
from .study_jobs import MEMORY_SHARE, StudyJobs


class StudyRun:
    """One run of a study in ``root``."""

    def __init__(
        self,
        root: Path,
        study: Study,
        plan: Plan,
        prepared: Mapping[str, Prepared],
        console: Console,
        *,
        details: bool = False,
        every_figure: bool = False,
        label: str = "",
    ) -> None:
        """Make a run; ``label`` is its name for people.

        At the end ``details`` prints every table, and ``every_figure`` draws every figure, not only the speed-ups.
        """
        self._root = root
        self._study = study
        self._plan = plan
        self._prepared = prepared
        self._console = console
        self._say = functools.partial(terminal.say, console)
        self._details = details
        self._every_figure = every_figure
        self._label = label
        self.folder = archive.folder_of(root, study.settings.name, trial=plan.profile.trial)
        self._executor = LocalExecutor(root, self.folder)
        self._environments = InstalledEnvironment.of_each(prepared, study.environments)
        self._sources = {path: path.read_bytes() for path in identity.sources(study.registry, plan)}

    @property
    def manifest(self) -> manifest.Manifest:
        """The manifest of the run, once ``measure`` has begun it."""
        return self._manifest.now

    def measure(self, *, fresh: bool) -> list[Record]:
        """Measure what is left of the plan and write the report; return all records of the run.

        KeyboardInterrupt passes through after the report of the results so far has been written; SIGTERM and SIGHUP
        become one. Raises Refused where a file or a folder cannot be used.
        """
        with interrupted_by_signals():
            return self._measure(fresh=fresh)

    def _measure(self, *, fresh: bool) -> list[Record]:
        # Wrong data must be found before the previous run is moved away.
        data = self._input_data()
        estimated_s = estimate_s(self._plan, manifest.read(self.folder))
        start = RunStart(
            self._root,
            self.folder,
            self._study,
            self._plan,
            self._prepared,
            self._say,
            self._executor.machine(),
            self._label,
        )
        opened, archived = start.open(fresh=fresh, forget=lambda run: self._caches(run).drop())
        self._manifest = OpenManifest(self.folder, opened)
        cells, records = start.cells_and_records(opened.run)
        limits = self._limits()
        run = self._run(cells, records, data, limits)
        self._executor.foresee({row[0]: data[row[0].workload] for row in group_by_row(cells).values()})
        remaining = RemainingTime(estimated_s, run.stops.left_s)
        began = time.monotonic()
        try:
            with Display(self._console, remaining) as display:
                limits.measure_peaks(run, display)
                run.measure(display, remaining)
                limits.find_largest_batches(run.records, display)
            # A cell that lost its container engine is measured after all when the run is continued.
            lost = [record for record in run.records if record.stage == OUTSIDE and record.cell in cells]
            lines = journal.count_lines(self.folder)
            # Stored at the end, with the stops: until then the run is not finished.
            self._manifest.now = replace(self.manifest, finished=not lost, recorded_lines=lines)
            if not lost:
                self._caches(opened.run).drop()
        finally:
            self._close(run, time.monotonic() - began)
        if self.manifest.finished and archived is not None:
            start.keep_results(run.records, archived)
        return run.records

    def _close(self, run: rounds.Run, elapsed_s: float) -> None:
        """Write the manifest and the report, whatever ended the run."""
        with ignoring_interrupts(), contextlib.ExitStack() as last:
            last.callback(self._report, run.records)
            last.callback(self._note_end, run, elapsed_s)
            self._executor.close()

    def _note_end(self, run: rounds.Run, elapsed_s: float) -> None:
        self._manifest.spend(elapsed=elapsed_s, waited_for_workers=run.waited_s)
        before = self.manifest
        self._manifest.update(
            stopped=run.stops.made,
            host_peak_bytes=max(before.host_peak_bytes, facts.peak_bytes()),
            changed_environments={**before.changed_environments, **altered(self._prepared, self._root)},
            changed_sources=source_files.changed(self._study.registry, self._sources, before.changed_sources),
        )
        if not self.manifest.changed_sources:
            run.growth.keep(self.manifest.changed_environments)

    def _limits(self) -> Limits:
        root, study, environments, executor = self._root, self._study, self._environments, self._executor
        frameworks = {cell.framework for cell in self._plan.cells}
        known = kept.peaks(root, study.registry, frameworks, environments, executor.machine())
        data = {name: choice.data for name, choice in study.workloads.items()}
        alone = functools.partial(executor.alone, environments, self._caches(self.manifest.run), data, MEMORY_SHARE)
        return Limits(study, self._plan, environments, executor, alone, self._manifest, known)

    def _run(
        self, cells: list[Cell], records: list[Record], data: Mapping[str, str | None], limits: Limits
    ) -> rounds.Run:
        jobs = StudyJobs(self.manifest.run, self._study, self._plan, self._environments, data)
        budget_s = self._plan.budget_s
        left_s = None if budget_s is None else budget_s - self.manifest.seconds.elapsed

        def undecided(records: Sequence[Record], rounds: int) -> list[Cell]:
            return undecided_cells(records, replace(self.manifest, stopped=stops.made), stops.goes_on)

        stops = Stops(list(group_by_row(cells)), self._plan.looks, undecided, left_s)
        return rounds.Run(
            cells=cells,
            seed=self._plan.seed,
            samples=self._plan.profile.samples,
            make_job=lambda row_round, left_s: jobs.make(row_round, left_s, self.manifest.peaks),
            executor=self._executor,
            journal=journal.Journal(self.folder),
            stops=stops,
            records=records,
            lanes=lanes.of_trial(self._root, self.folder, cells) if self._plan.profile.trial else None,
            note_peaks=limits.note_peaks,
            growth=kept.growth(self._root, self._study, self._plan, self._environments, data, self._executor.machine()),
            alarm=None if self._plan.profile.trial else NoiseAlarm(self._say),
        )

    def _input_data(self) -> dict[str, str | None]:
        paths = {cell.workload: self._study.workloads[cell.workload].data for cell in self._plan.cells}
        return input_data.resolve_all(paths, root=self._root, announce=self._say, registry=self._study.registry)

    def _caches(self, run: str) -> CompileCaches:
        plan, folder = self._plan, self._root / STATE / COMPILE_CACHES
        return CompileCaches(
            folder,
            run,
            plan.profile.compile_cache == "kept",
            describe_each(self._environments),
            self._study.registry,
            trial=plan.profile.trial,
            seed=plan.seed,
        )

    def _report(self, records: list[Record]) -> None:
        damaged: list[str] = []
        journal.read(self.folder, damaged)
        described = replace(self.manifest, damaged=tuple(damaged))
        made = report.make(records, described, folder=self.folder, claims=self._study.claims.values())
        extra, problems = outputs.load(map(Path, self._study.registry.output_files))
        written = made.write(self.folder, extra, every_figure=self._every_figure)
        written.problems += problems
        # The terminal may be gone; the files are written.
        with contextlib.suppress(OSError):
            self._say(f"Measured for {duration(self.manifest.seconds.elapsed)}.")
            made.print(self._console, details=self._details)
            terminal.say_apart(self._console, name_files(written.paths, self._root))
            for problem in written.problems:
                self._say(f"Not written: {problem}")
        written.raise_refused()
