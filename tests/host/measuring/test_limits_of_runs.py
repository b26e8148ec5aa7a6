"""Tests which peaks and largest batches a run measures, which it takes from before, and that each is stored at once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from example_study import plan_of, study

from bench.host.executors import plausibility
from bench.host.executors.job import InstalledEnvironment
from bench.host.measuring import largest_batch, peaks
from bench.host.measuring.largest_batch import LargestBatch
from bench.host.measuring.limits import Limits
from bench.host.measuring.open_manifest import OpenManifest
from bench.host.storage.kept_peaks import KeptPeaks
from bench.host.storage.manifest import Manifest, read
from bench.record import FAILED, OK, Record

FOUND = {"flops_per_s": {"float32": 5.0}, "bandwidths": [[1, 2.0]], "reasons": {}}
STORED = {"threads": 3, **FOUND}
PLAN = replace(plan_of("--mode", "eager"), memory_cap_bytes=1000)
KEYS = ["old/cpu", "jax/cpu"]


class Machine:
    """The limits of a machine whose every measurement is noted, with what the manifest holds when it begins."""

    def __init__(self, folder, monkeypatch) -> None:
        self.folder = folder
        self.asked: list[tuple[str, str, list[str]]] = []
        self.announced: list[tuple[str, int]] = []
        self.display: Any = SimpleNamespace(at=lambda text, place: self.announced.append((text, place)))
        monkeypatch.setattr(plausibility, "measure", self.measure_peaks)
        monkeypatch.setattr(largest_batch, "measure", self.measure_batch)

    def limits(self, plan=PLAN, folder=None) -> Limits:
        """Make those of another invocation of the run, or of another run in ``folder``."""
        installed = {name: InstalledEnvironment((), {"provider": "venv"}) for name in ("old", "jax")}
        folder = folder or self.folder
        manifest = OpenManifest(folder, read(folder) or Manifest())
        kept = KeptPeaks(self.folder / "kept", {name: name for name in installed}, {}, {})
        return Limits(study(), plan, installed, None, lambda label: label, manifest, kept)  # type: ignore[arg-type, return-value]

    def measure_peaks(self, cell, precisions, start) -> dict[str, Any]:
        stored = read(self.folder)
        self.asked.append((start, f"{cell.environment} {','.join(precisions)}", sorted(stored.peaks) if stored else []))
        return FOUND

    def measure_batch(self, cell, cap_bytes, seed, start) -> LargestBatch:
        stored = read(self.folder)
        self.asked.append((start, f"{cell.name} {cap_bytes} {seed}", sorted(stored.largest_batch) if stored else []))
        return LargestBatch(cap_bytes, (), OK, None, 64, 64, "image")

    def measure(self, **given) -> Limits:
        """Measure the peaks with workers of their own; the cells of the run are not forked."""
        limits = self.limits(**given)
        job = SimpleNamespace(forked=False)
        run: Any = SimpleNamespace(
            cells=PLAN.cells, stops=SimpleNamespace(left_s=lambda: None), make_job=lambda *given: job
        )
        limits.measure_peaks(run, self.display)
        return limits


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_the_peaks_of_each_environment_are_stored_as_soon_as_they_are_measured(machine):
    machine.measure()
    assert machine.asked == [("peaks", "old float32", []), ("peaks", "jax float32", ["old/cpu"])]
    assert machine.announced == [(f"measuring the peaks of this machine with {name}", 0) for name in ("old", "jax")]
    assert read(machine.folder).peaks == dict.fromkeys(KEYS, STORED)


def test_a_continued_run_and_the_next_run_measure_no_peaks_again(machine, tmp_path):
    machine.measure()
    machine.measure()
    assert machine.measure(folder=tmp_path / "next").manifest.now.peaks == dict.fromkeys(KEYS, STORED)
    assert len(machine.asked) == len(KEYS)


def test_a_profile_without_peaks_measures_none(machine):
    machine.measure(plan=replace(PLAN, profile=PLAN.profile.model_copy(update={"peaks": False})))
    assert machine.asked == []


def test_peaks_that_are_measured_again_count_in_this_run_and_the_next(machine):
    limits = machine.measure()
    more = {**FOUND, "flops_per_s": {"float32": 9.0}}
    limits.note_peaks("jax/cpu", more)
    assert read(machine.folder).peaks == {"old/cpu": STORED, "jax/cpu": more}
    cell, precisions = peaks.probes(PLAN.cells, limits.study.registry)["jax/cpu"]
    assert limits.kept.get(cell, precisions) == more


def test_every_cell_that_ran_gets_one_search_for_its_largest_batch_and_each_is_stored_at_once(machine):
    first, second, third = PLAN.cells[:3]
    cells = [first, second, first, replace(first, environment="old~twin")]
    records = [*(Record(cell, 0, 1, OK) for cell in cells), Record(third, 0, 1, FAILED)]
    machine.limits().find_largest_batches(records, machine.display)
    assert machine.asked == [
        ("batch", f"{first.name} 1000 7", []),
        ("batch", f"{second.name} 1000 7", [first.name]),
    ]
    assert machine.announced[0] == (f"finding the largest batch of {first.name}", 5)
    machine.limits().find_largest_batches(records, machine.display)
    assert len(machine.asked) == 2, "a continued run searches no cell again"


def test_without_a_cap_no_batch_is_looked_for(machine):
    uncapped = machine.limits(replace(PLAN, memory_cap_bytes=None))
    uncapped.find_largest_batches([Record(PLAN.cells[0], 0, 1, OK)], machine.display)
    assert machine.asked == []
