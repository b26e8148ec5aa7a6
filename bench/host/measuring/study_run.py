"""Measures a study: opens the run, measures peaks, rows and largest batches, and writes the report."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.cell import Cell
from bench.record import OK, OUTSIDE, Record

from ..analysis.plan_time import estimate_s
from ..analysis.run_analysis import undecided_cells
from ..environments import Prepared, altered
from ..executors import lanes
from ..executors.job import InstalledEnvironment, describe_each
from ..executors.local import LocalExecutor
from ..executors.starter import Starter
from ..interrupts import ignoring_interrupts, interrupted_by_signals
from ..machine import facts, processors
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
from ..study.twin import is_twin
from ..workers.protocol import Transport
from . import kept, largest_batch, peaks, rounds
from .noise_alarm import NoiseAlarm
from .peak_workers import PeakWorkers
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
        frameworks = {cell.framework for cell in plan.cells}
        self._kept_peaks = kept.peaks(root, study.registry, frameworks, self._environments)
        self._sources = {path: path.read_bytes() for path in identity.sources(study.registry, plan)}

    @property
    def manifest(self) -> manifest.Manifest:
        """The manifest of the run, once ``measure`` has begun it."""
        return self._manifest

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
        start = RunStart(self._root, self.folder, self._study, self._plan, self._prepared, self._say, self._label)
        self._manifest, archived = start.open(fresh=fresh, forget=lambda run: self._caches(run).drop())
        cells, records = start.cells_and_records(self._manifest.run)
        run = self._run(cells, records, data)
        self._executor.foresee({row[0]: data[row[0].workload] for row in group_by_row(cells).values()})
        remaining = RemainingTime(estimated_s, run.stops.left_s)
        began = time.monotonic()
        try:
            with Display(self._console, remaining) as display:
                self._measure_peaks(run, display)
                run.measure(display, remaining)
                with self._waiting():
                    self._find_largest_batches(run.records, display)
            # A cell that lost its container engine is measured after all when the run is continued.
            lost = [record for record in run.records if record.stage == OUTSIDE and record.cell in cells]
            self._manifest = replace(self._manifest, finished=not lost, recorded_lines=journal.count_lines(self.folder))
            if not lost:
                self._caches(self._manifest.run).drop()
        finally:
            self._close(run, time.monotonic() - began)
        if self._manifest.finished and archived is not None:
            start.keep_results(run.records, archived)
        return run.records

    def _close(self, run: rounds.Run, elapsed_s: float) -> None:
        """Write the manifest and the report, whatever ended the run."""
        with ignoring_interrupts(), contextlib.ExitStack() as last:
            last.callback(self._report, run.records)
            last.callback(self._note_end, run, elapsed_s)
            self._executor.close()

    def _note_end(self, run: rounds.Run, elapsed_s: float) -> None:
        self._manifest = self._manifest.spend(elapsed=elapsed_s, waited_for_workers=run.waited_s)
        self._update(
            stopped=run.stops.made,
            host_peak_bytes=max(self._manifest.host_peak_bytes, facts.peak_bytes()),
            changed_environments={**self._manifest.changed_environments, **altered(self._prepared, self._root)},
            changed_sources=source_files.changed(self._study.registry, self._sources, self._manifest.changed_sources),
        )
        if not self._manifest.changed_sources:
            run.growth.keep(self._manifest.changed_environments)

    def _run(self, cells: list[Cell], records: list[Record], data: Mapping[str, str | None]) -> rounds.Run:
        jobs = StudyJobs(self._manifest.run, self._study, self._plan, self._environments, data)
        budget_s = self._plan.budget_s
        left_s = None if budget_s is None else budget_s - self._manifest.seconds.elapsed

        def undecided(records: Sequence[Record], rounds: int) -> list[Cell]:
            return undecided_cells(records, replace(self._manifest, stopped=stops.made), stops.goes_on)

        stops = Stops(list(group_by_row(cells)), self._plan.looks, undecided, left_s)
        return rounds.Run(
            cells=cells,
            seed=self._plan.seed,
            samples=self._plan.profile.samples,
            make_job=lambda row_round, left_s: jobs.make(row_round, left_s, self._manifest.peaks),
            executor=self._executor,
            journal=journal.Journal(self.folder),
            stops=stops,
            records=records,
            lanes=lanes.of_trial(self._root, self.folder, cells) if self._plan.profile.trial else None,
            note_peaks=self._note_peaks,
            growth=kept.growth(self._root, self._study, self._plan, self._environments, data),
            alarm=None if self._plan.profile.trial else NoiseAlarm(self._say),
        )

    def _input_data(self) -> dict[str, str | None]:
        paths = {cell.workload: self._study.workloads[cell.workload].data for cell in self._plan.cells}
        return input_data.resolve_all(paths, root=self._root, announce=self._say, registry=self._study.registry)

    def _measure_peaks(self, run: rounds.Run, display: Display) -> None:
        """Measure the peaks of the machine once a run, with every framework that takes part."""
        wanted = peaks.probes(run.cells, self._study.registry) if self._plan.profile.peaks else {}
        known, announce = self._manifest.peaks, lambda text: display.at(text, 0)
        workers = PeakWorkers(run, self._executor, self._environments, self._start("peaks"))
        # Not among the seconds of waiting for workers: it places libraries.
        workers.begin(peaks.missing(wanted, known, self._kept_peaks))
        with self._waiting():
            start = workers.ready(announce)
            for key, found in peaks.measure_missing(wanted, known, start, announce, self._kept_peaks):
                self._update(peaks={**self._manifest.peaks, key: found})

    def _note_peaks(self, key: str, found: Mapping[str, Any]) -> None:
        """Let peaks that were measured again count in this run and the next ones."""
        self._update(peaks={**self._manifest.peaks, key: dict(found)})
        probe = peaks.probes(self._plan.cells, self._study.registry).get(key)
        if probe is not None:
            self._kept_peaks.keep(*probe, found)

    def _find_largest_batches(self, records: list[Record], display: Display) -> None:
        """Find the largest batch of every cell that ran, where the plan has a cap."""
        cap = self._plan.memory_cap_bytes
        if cap is None:
            return
        for cell in dict.fromkeys(r.cell for r in records if r.status == OK and not is_twin(r.cell)):
            if cell.name not in self._manifest.largest_batch:
                display.at(f"finding the largest batch of {cell.name}", len(records))
                found = largest_batch.measure(cell, cap, self._plan.seed, self._start("batch"))
                known = {**self._manifest.largest_batch, cell.name: found.to_json()}
                self._update(largest_batch=known)

    def _update(self, **changes: Any) -> None:
        """Change the manifest, and store it at once: a run that is killed keeps what it holds."""
        self._manifest = replace(self._manifest, **changes)
        manifest.write(self.folder, self._manifest)

    def _start(self, label: str) -> Callable[[Cell], Transport]:
        """Return a function that starts the worker of a cell; ``label`` becomes part of the name of its log."""
        data = {name: choice.data for name, choice in self._study.workloads.items()}
        limit = int(facts.available_bytes() * MEMORY_SHARE)
        starter = Starter(self._root, self.folder, self._environments, self._caches(self._manifest.run), data, limit)
        return lambda cell: starter.start(cell, label, processors=processors.chosen(cell.threads))

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
        described = replace(self._manifest, damaged=tuple(damaged))
        made = report.make(records, described, folder=self.folder, claims=self._study.claims.values())
        extra, problems = outputs.load(map(Path, self._study.registry.output_files))
        written = made.write(self.folder, extra, every_figure=self._every_figure)
        written.problems += problems
        # The terminal may be gone; the files are written.
        with contextlib.suppress(OSError):
            self._say(f"Measured for {duration(self._manifest.seconds.elapsed)}.")
            made.print(self._console, details=self._details)
            terminal.say_apart(self._console, name_files(written.paths, self._root))
            for problem in written.problems:
                self._say(f"Not written: {problem}")
        written.raise_refused()

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        """Count the time in which the host only waits for workers."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._manifest = self._manifest.spend(waited_for_workers=time.monotonic() - began)
