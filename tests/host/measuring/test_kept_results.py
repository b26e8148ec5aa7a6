"""Tests that a run without results does not take the place of one that has some."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.analysis import noise_watch
from bench.host.measuring import run_start
from bench.host.measuring.run_start import RunStart
from bench.host.storage import archive, journal, manifest
from bench.host.storage.manifest import Manifest
from bench.record import FAILED, OK, Record

CELLS = [Cell("here", "numpy", mode, "gemm", "tiny", "float32", "cpu", 2) for mode in ("eager", "jit")]
SAMPLES: dict[str, Any] = {"sample_ns": [9], "sample_cpu_ns": [9], "sample_steps": [1], "sample_turn": [0]}
FAILURES = [Record(cell, 0, 1, FAILED, stage="start", reason="boom") for cell in CELLS]


def timed(*loads):
    """Return the records of cells beside which other programs used so many processors."""
    return [Record(cell, 0, 1, OK, other_load=load, **SAMPLES) for cell, load in zip(CELLS, loads, strict=False)]


def left(root, before, after, monkeypatch, *, trial=False):
    """Store one run and another in its place; return which has the place then, and what is said."""
    monkeypatch.setattr(run_start, "withheld_cells", noise_watch.withheld_cells)
    said: list[str] = []
    study: Any = None
    plan: Any = SimpleNamespace(profile=SimpleNamespace(trial=trial))
    start = RunStart(root, root / "reports" / "small", study, plan, {}, said.append, {})
    archived = None
    for name, records in (("20261101-101112-first", before), ("20261102-101112-second", after)):
        if name.endswith("second"):
            archived = archive.archive(start.folder)
        manifest.write(start.folder, Manifest(run=name, finished=True))
        book = journal.Journal(start.folder)
        for record in records:
            book.append(record)
    assert archived is not None
    start.keep_results(after, archived)
    found = manifest.read(start.folder)
    assert found is not None
    return found.run.rpartition("-")[2], " ".join(said)


def test_a_run_whose_times_are_all_withheld_gives_the_place_back(tmp_path, monkeypatch):
    """A machine that did not become quiet within --wait took the results of the run before out of sight."""
    place, said = left(tmp_path, timed(0.0, 0.0), timed(1.0, 1.0), monkeypatch)
    assert place == "first"
    assert said.startswith(
        "Other programs disturbed every cell that was measured, so reports/small has the results of "
    )
    assert said.endswith("are in reports/small/history/20261102-101112-second.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (timed(0.0, 0.0), timed(1.0, 0.0)),
        # Neither has results: the new one tells why.
        (timed(1.0, 1.0), timed(1.0)),
        (FAILURES, timed(1.0, 1.0)),
        (FAILURES, FAILURES),
    ],
)
def test_a_run_with_a_result_stays_and_so_does_one_after_a_run_without_any(tmp_path, monkeypatch, before, after):
    assert left(tmp_path, before, after, monkeypatch) == ("second", "")


@pytest.mark.parametrize("before", [timed(0.0), timed(1.0)])
def test_a_run_that_measured_nothing_gives_the_place_back(tmp_path, monkeypatch, before):
    place, said = left(tmp_path, before, FAILURES, monkeypatch)
    assert (place, said.partition(",")[0]) == ("first", "No cell was measured")


def test_a_trial_stays_whatever_disturbed_it(tmp_path, monkeypatch):
    assert left(tmp_path, timed(0.0), timed(1.0), monkeypatch, trial=True) == ("second", "")
