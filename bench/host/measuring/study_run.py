"""Knows how an invocation becomes a run: its files, what an earlier invocation left, and its report."""

from __future__ import annotations

import contextlib
import json
import signal
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.cell import Cell
from bench.record import OK, UNSUPPORTED, Record

from ..analysis.conditions import Conditions
from ..analysis.peaks import implausible
from ..analysis.run_analysis import settled_rows
from ..environments import Prepared
from ..executors.starter import Starter
from ..machine import facts, processors
from ..project import STATE
from ..reporting import report
from ..reporting.progress import Display, RemainingTime
from ..reporting.words.numbers import duration
from ..setup.staging import write_whole
from ..storage import input_data, journal
from ..storage.compile_caches import CompileCaches
from ..storage.identity import identity
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
        described = self._open(fresh)
        name = str(described["run"])
        cells, records = self._sort_out(name)
        starter = self._starter(name)
        under_way = self._run(described, cells, records, starter)
        estimate = RemainingTime()
        began = time.monotonic()
        try:
            with Display(self._console, estimate) as display:
                with _waiting(described):
                    self._measure_peaks(cells, described, starter, display)
                under_way.measure(display, estimate)
                with _waiting(described):
                    self._find_largest_batches(under_way.records, described, starter, display)
            # A cell that lost its container engine is measured after all when the run is continued.
            lost = [record for record in under_way.records if record.stage == "environment" and record.cell in cells]
            described["finished"] = not lost
            if not lost:
                self._caches(str(described["run"])).drop()
        finally:
            spent = described["seconds"]
            spent["elapsed"] += time.monotonic() - began
            spent["waited_for_workers"] += under_way.waited_s
            described["stopped"] = under_way.stops.to_json()
            described["host_peak_bytes"] = max(described.get("host_peak_bytes", 0), facts.own_peak_bytes())
            write_whole(self.folder / journal.RUN, json.dumps(described, indent=1))
            # A second Ctrl-C must not cut the report short.
            with _ignoring_interrupts():
                self._report(under_way.records, described)
        return under_way.records

    def _open(self, fresh: bool) -> dict[str, Any]:
        """Continue the run in the folder if it is this one and unfinished; otherwise archive it and begin."""
        manifests = {name: prepared.manifest for name, prepared in self._prepared.items()}
        key = identity(self._root, self._study, self._plan, self._prepared)
        before = journal.read_run(self.folder)
        if before and before.get("identity") == key and not before.get("finished") and not fresh:
            done = len(journal.read(self.folder))
            self._say(f"Continuing the run of {before['started']} ({done} processes recorded; --fresh starts over).")
            return {**before, **self._changeable(), "environments": manifests}
        if before:
            self._caches(str(before.get("run"))).drop()
        moved = journal.archive(self.folder)
        if moved is not None:
            self._say(f"The previous run was moved to {moved.relative_to(self._root)}.")
        started = time.strftime("%Y-%m-%d %H:%M:%S")
        settings = self._study.settings
        described = {
            "run": f"{time.strftime('%Y%m%d-%H%M%S')}-{key[:6]}",
            "identity": key,
            "started": started,
            "study": {"name": settings.name, "title": settings.title, "baseline": settings.baseline},
            "profile": self._plan.profile.model_dump(mode="json"),
            "seed": self._plan.seed,
            "threads": self._plan.threads,
            "machine": facts.describe(),
            "environments": manifests,
            "looks": list(self._plan.looks),
            **self._changeable(),
            "planned": [cell.to_json() for cell in self._plan.cells],
            "excluded": [[cell.to_json(), reason] for cell, reason in self._plan.excluded],
            "seconds": {"elapsed": 0.0, "waited_for_workers": 0.0},
            "finished": False,
        }
        write_whole(self.folder / journal.RUN, json.dumps(described, indent=1))
        return described

    def _changeable(self) -> dict[str, Any]:
        """Return what a command that continues a run may say anew."""
        return {"budget_s": self._plan.budget_s, "strict": self._plan.strict}

    def _sort_out(self, run_name: str) -> tuple[list[Cell], list[Record]]:
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
                    run_name,
                    status=prepared.status,
                    stage=prepared.stage or "environment",
                    reason=prepared.reason or "the environment could not be prepared",
                )
                book.append(record)
                records.append(record)
        return [cell for cell in self._plan.cells if original(cell.environment) in ready], records

    def _run(
        self, described: Mapping[str, Any], cells: list[Cell], records: list[Record], starter: Starter
    ) -> rounds.Run:
        conditions = rounds.Conditions(
            run=str(described["run"]),
            profile=self._plan.profile,
            seed=self._plan.seed,
            processors=starter.processors,
            data={
                name: input_data.resolve(
                    name, self._study.workloads[name].data, folder=self._root / STATE / "data", announce=self._say
                )
                for name in {cell.workload for cell in cells}
            },
            memory_limit_bytes=starter.memory_limit_bytes,
            # Another run of the same study is another draw of orders and layouts; this run's go on when it does.
            order_seed=zlib.crc32(f"{self._plan.seed}/{described['run']}".encode()),
            implausible=lambda record: implausible(record, described.get("peaks", {})),
        )
        spent_s = described["seconds"]["elapsed"]
        left_s = None if self._plan.budget_s is None else self._plan.budget_s - spent_s

        def settled(records: Sequence[Record], rounds: int) -> list[str]:
            return settled_rows(records, Conditions.of({**described, "stopped": stops.to_json()}))

        stops = Stops(list(group_by_row(cells)), self._plan.looks, settled, left_s)
        return rounds.Run(
            cells,
            conditions,
            journal.Journal(self.folder),
            References(self._root, self._root / STATE / "references", self._plan.seed, self._plan.threads),
            lambda cell, number, attempt, layout: starter.start(cell, f"r{number + 1}.a{attempt}", layout),
            starter.caches,
            stops,
            records,
        )

    def _starter(self, run_name: str) -> Starter:
        bound = processors.chosen(self._plan.threads)
        data = {name: choice.data for name, choice in self._study.workloads.items()}
        limit = int(facts.available_bytes() * MEMORY_SHARE)
        caches = self._caches(run_name)
        return Starter(self._root, self.folder, self._prepared, self._study.environments, caches, bound, data, limit)

    def _measure_peaks(self, cells: list[Cell], described: dict[str, Any], starter: Starter, display: Display) -> None:
        """Measure what the machine can do at most, once a run, with every framework that takes part."""
        known = described.setdefault("peaks", {})
        if not self._plan.profile.peaks:
            return
        for cell, precisions in peaks.probes(cell for cell in cells if not is_twin(cell)):
            key = f"{cell.environment}/{cell.device}"
            if key not in known:
                display.at(f"measuring the peaks of this machine with {cell.environment}", 0)
                known[key] = peaks.measure(cell, precisions, lambda cell: starter.start(cell, "peaks"))
        write_whole(self.folder / journal.RUN, json.dumps(described, indent=1))

    def _find_largest_batches(
        self, records: list[Record], described: dict[str, Any], starter: Starter, display: Display
    ) -> None:
        """Find the largest batch of every cell that ran, where the plan has a cap."""
        cap = self._plan.memory_cap_bytes
        if cap is None:
            return
        known = described.setdefault("largest_batch", {})
        measured = dict.fromkeys(r.cell for r in records if r.status == OK and not is_twin(r.cell))
        for cell in measured:
            if cell.name not in known:
                display.at(f"finding the largest batch of {cell.name}", len(records))
                known[cell.name] = largest_batch.measure(
                    cell, cap, self._plan.seed, lambda cell: starter.start(cell, "batch")
                ).to_json()

    def _caches(self, name: str) -> CompileCaches:
        manifests = {environment: prepared.manifest for environment, prepared in self._prepared.items()}
        kept = self._plan.profile.compile_cache == "kept"
        return CompileCaches(self._root, self._root / STATE / "compile-caches", name, kept, manifests)

    def _report(self, records: list[Record], described: dict[str, Any]) -> None:
        made = report.make(records, described)
        written = made.write(self.folder)
        made.print(self._console)
        spent = described["seconds"]
        self._say(f"Measured for {duration(spent['elapsed'])}.")
        for path in written.paths:
            self._say(f"  {path.relative_to(self._root)}")
        for problem in written.problems:
            self._say(f"Not written: {problem}")

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextlib.contextmanager
def _waiting(described: Mapping[str, Any]) -> Iterator[None]:
    """Count the time of what is nothing but waiting for workers."""
    began = time.monotonic()
    try:
        yield
    finally:
        described["seconds"]["waited_for_workers"] += time.monotonic() - began


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
