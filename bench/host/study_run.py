"""Knows how an invocation becomes a run: its files, what an earlier invocation left, and its report."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.cell import Cell
from bench.record import OK, UNSUPPORTED, Record

from . import data, journal, machine, processors, report, run, schedule
from .bootstrap.aside import write_whole
from .caches import CompileCaches, slug
from .environments import Prepared
from .progress import Display, Estimate, duration
from .references import References
from .schema import Study
from .selection import Plan
from .workers import Worker, variables

#: A worker that asks for more than this share of the free memory gets an error instead of bringing the machine down.
MEMORY_SHARE = 0.9
STATE = ".nox"


class Refused(Exception):
    """The run cannot start; the message says why and what to do."""


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold this checkout for one run; raises Refused while another run holds it."""
    path = root / STATE / "run.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise Refused(
                f"another run is under way in this checkout (process {holder}). Two at once would disturb each other; "
                "wait for it, stop it, or use another checkout."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def identity(root: Path, study: Study, plan: Plan, prepared: Mapping[str, Prepared]) -> str:
    """Hash what a run is about; only a run about the very same is continued.

    Whether an environment could be built is left out: one that can be built by now shall continue, too.
    """
    about = {
        "cells": [cell.to_json() for cell in plan.cells],
        "profile": plan.profile.model_dump(mode="json"),
        "seed": plan.seed,
        "data": {name: str(choice.data) for name, choice in study.workloads.items()},
        "environments": {
            name: [
                study.environments[name].model_dump(mode="json"),
                _read(root / "locks" / f"{name}.txt"),
                prepared[name].manifest.get("packages") if study.environments[name].provider == "existing" else None,
            ]
            for name in sorted(prepared)
        },
        "processor": machine.processor_model(),
        "code": [
            path.read_text(encoding="utf-8")
            for part in ("worker", "frameworks", "workloads")
            for path in sorted((root / "bench" / part).rglob("*.py"))
        ],
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


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
        under_way = self._run(str(described["run"]))
        rounds, seed = self._plan.profile.rounds, self._plan.seed
        estimate = Estimate(schedule.sittings(under_way.cells, rounds, seed))
        try:
            with Display(self._console, len(under_way.cells) * rounds, estimate) as display:
                under_way.measure(display, estimate)
            described["finished"] = True
            self._caches(str(described["run"])).drop()
        finally:
            spent = described["seconds"]
            spent["elapsed"] += under_way.elapsed_s
            spent["waited_for_workers"] += under_way.waited_s
            described["host_peak_bytes"] = max(described.get("host_peak_bytes", 0), machine.own_peak_bytes())
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
            return {**before, "environments": manifests}
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
            "machine": machine.describe(),
            "environments": manifests,
            "planned": [cell.to_json() for cell in self._plan.cells],
            "excluded": [[cell.to_json(), reason] for cell, reason in self._plan.excluded],
            "seconds": {"elapsed": 0.0, "waited_for_workers": 0.0},
            "finished": False,
        }
        write_whole(self.folder / journal.RUN, json.dumps(described, indent=1))
        return described

    def _run(self, name: str) -> run.Run:
        book = journal.Journal(self.folder)
        ready = {name for name, prepared in self._prepared.items() if prepared.status == OK}
        # What could not be built at first and can be now is measured after all.
        records = [
            record
            for record in journal.read(self.folder)
            if record.stage != "environment" or record.cell.environment not in ready
        ]
        for cell in self._plan.cells:
            prepared = self._prepared[cell.environment]
            if cell.environment not in ready and not any(record.cell == cell for record in records):
                record = run.refused(
                    cell,
                    name,
                    status=prepared.status,
                    stage=prepared.stage or "environment",
                    reason=prepared.reason or "the environment could not be prepared",
                )
                book.append(record)
                records.append(record)
        runnable = [cell for cell in self._plan.cells if cell.environment in ready]
        conditions = run.Conditions(
            run=name,
            profile=self._plan.profile,
            seed=self._plan.seed,
            processors=processors.chosen(self._plan.threads),
            data={
                name: data.resolve(
                    name, self._study.workloads[name].data, folder=self._root / STATE / "data", announce=self._say
                )
                for name in {cell.workload for cell in runnable}
            },
            memory_limit_bytes=int(machine.available_bytes() * MEMORY_SHARE),
        )
        references = References(self._root, self._root / STATE / "references", self._plan.seed, self._plan.threads)
        caches = self._caches(name)
        return run.Run(runnable, conditions, book, references, self._starter(caches, conditions), caches, records)

    def _starter(self, caches: CompileCaches, conditions: run.Conditions) -> Callable[[Cell, int, int], Worker]:
        def start(cell: Cell, number: int, attempt: int) -> Worker:
            extra = {
                **caches.variables(cell),
                **self._prepared[cell.environment].manifest.get("variables", {}),
                **self._study.environments[cell.environment].variables,
            }
            return Worker(
                self._prepared[cell.environment].command,
                folder=self._root,
                variables=variables(cell.threads, extra),
                log=self.folder / "logs" / f"{slug(cell.column, cell.row)}.r{number + 1}.a{attempt}.log",
                processors=conditions.processors,
            )

        return start

    def _caches(self, name: str) -> CompileCaches:
        manifests = {environment: prepared.manifest for environment, prepared in self._prepared.items()}
        kept = self._plan.profile.compile_cache == "kept"
        return CompileCaches(self._root, self._root / STATE / "compile-caches", name, kept, manifests)

    def _report(self, records: list[Record], described: dict[str, Any]) -> None:
        made = report.make(records, described)
        paths = made.write(self.folder)
        made.print(self._console)
        spent = described["seconds"]
        self._say(f"Measured for {duration(spent['elapsed'])}.")
        for path in paths:
            self._say(f"  {path.relative_to(self._root)}")

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
