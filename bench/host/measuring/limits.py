"""Finds the limits of the machine that measures a run: its peaks, and the largest batch of every cell.

The executor starts the workers, so these are limits of the machine that measures the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.cell import Cell
from bench.record import OK, Record

from ..executors.job import InstalledEnvironment
from ..executors.local import LocalExecutor
from ..reporting.progress import Display
from ..storage.kept_peaks import KeptPeaks
from ..study.plan import Plan
from ..study.schema import Study
from ..study.twin import is_twin
from ..workers.protocol import Transport
from . import largest_batch, peaks, rounds
from .open_manifest import OpenManifest
from .peak_workers import PeakWorkers


@dataclass(frozen=True)
class Limits:
    """The limits of the machine in one run; they become part of its manifest."""

    study: Study
    plan: Plan
    environments: Mapping[str, InstalledEnvironment]
    executor: LocalExecutor
    #: Returns what starts workers in processes of their own, given a part of the names of their logs.
    alone: Callable[[str], Callable[[Cell], Transport]]
    manifest: OpenManifest
    kept: KeptPeaks

    def measure_peaks(self, run: rounds.Run, display: Display) -> None:
        """Measure the peaks of the machine once a run, with every framework that takes part."""
        wanted = peaks.probes(run.cells, self.study.registry) if self.plan.profile.peaks else {}
        known, announce = self.manifest.now.peaks, lambda text: display.at(text, 0)
        workers = PeakWorkers(run, self.executor, self.environments, self.alone("peaks"))
        # Not among the seconds of waiting for workers: it places libraries.
        workers.begin(peaks.missing(wanted, known, self.kept))
        with self.manifest.waiting():
            start = workers.ready(announce)
            for key, found in peaks.measure_missing(wanted, known, start, announce, self.kept):
                self._note(key, found)

    def note_peaks(self, key: str, found: Mapping[str, Any]) -> None:
        """Let peaks that were measured again count in this run and the next ones."""
        self._note(key, found)
        probe = peaks.probes(self.plan.cells, self.study.registry).get(key)
        if probe is not None:
            self.kept.keep(*probe, found)

    def _note(self, key: str, found: Mapping[str, Any]) -> None:
        self.manifest.update(peaks={**self.manifest.now.peaks, key: dict(found)})

    def find_largest_batches(self, records: Iterable[Record], display: Display) -> None:
        """Find the largest batch of every cell that ran, where the plan has a cap."""
        cap, listed = self.plan.memory_cap_bytes, list(records)
        if cap is None:
            return
        with self.manifest.waiting():
            start = self.alone("batch")
            for cell in dict.fromkeys(r.cell for r in listed if r.status == OK and not is_twin(r.cell)):
                known = self.manifest.now.largest_batch
                if cell.name not in known:
                    display.at(f"finding the largest batch of {cell.name}", len(listed))
                    found = largest_batch.measure(cell, cap, self.plan.seed, start)
                    self.manifest.update(largest_batch={**known, cell.name: found.to_json()})
