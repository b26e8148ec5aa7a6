"""Tests the peaks that stay between runs: used within a day, only where they were measured, the best of all times."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.setup import staging
from bench.host.storage import kept_peaks
from bench.host.storage.kept_peaks import FRESH_S, KeptPeaks

CELL = Cell("torch1", "torch", "eager", "gemm", "check", "float32", "cpu", 2)
FOUND: dict[str, Any] = {"flops_per_s": {"float32": 5.0}, "bandwidths": [[1, 2.0], [4, 3.0]], "reasons": {}}


class Ground:
    """A folder of kept peaks and a clock."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder
        self.now_s = 1e9

    def peaks(self, manifest: Any = "a lock", machine: Any = None, code: str = "a digest") -> KeptPeaks:
        described = machine or {"processor": "x"}
        return KeptPeaks(self.folder / "peaks", {"torch1": manifest}, {"torch": code}, described, lambda: self.now_s)


@pytest.fixture
def ground(tmp_path):
    return Ground(tmp_path)


def test_what_was_measured_is_there_for_the_next_run(ground):
    assert ground.peaks().get(CELL, ["float32"]) is None
    assert ground.peaks().keep(CELL, ["float32"], FOUND) == FOUND
    assert ground.peaks().get(CELL, ["float32"]) == FOUND


def test_a_day_later_it_is_measured_again_and_the_better_rate_stays(ground):
    ground.peaks().keep(CELL, ["float32"], FOUND)
    ground.now_s += FRESH_S
    assert ground.peaks().get(CELL, ["float32"]) is None
    slower = {"flops_per_s": {"float32": 4.0}, "bandwidths": [[1, 9.0], [8, 1.0]], "reasons": {}}
    both = {"flops_per_s": {"float32": 5.0}, "bandwidths": [[1, 9.0], [4, 3.0], [8, 1.0]], "reasons": {}}
    assert ground.peaks().keep(CELL, ["float32"], slower) == both
    assert ground.peaks().get(CELL, ["float32"]) == both


def test_a_part_that_is_measured_again_keeps_the_reasons_of_the_others():
    before = {"flops_per_s": {"float32": 5.0}, "bandwidths": [], "reasons": {"bfloat16": "no kernel", "copy": "busy"}}
    found = {"flops_per_s": {"float32": 6.0}, "bandwidths": [[1, 2.0]], "reasons": {}}
    assert kept_peaks.best(found, before) == {
        "flops_per_s": {"float32": 6.0},
        "bandwidths": [[1, 2.0]],
        "reasons": {"bfloat16": "no kernel"},
    }


def test_a_clock_that_was_set_back_does_not_keep_peaks_for_ever(ground):
    ground.peaks().keep(CELL, ["float32"], FOUND)
    ground.now_s -= 60
    assert ground.peaks().get(CELL, ["float32"]) is None


@pytest.mark.parametrize(
    ("cell", "precisions", "manifest", "machine"),
    [
        (replace(CELL, threads=1), ["float32"], "a lock", None),
        (replace(CELL, device="gpu"), ["float32"], "a lock", None),
        (CELL, ["float32", "bfloat16"], "a lock", None),
        (CELL, ["float32"], "another lock", None),
        (CELL, ["float32"], "a lock", {"processor": "y"}),
    ],
)
def test_other_threads_devices_precisions_installations_and_machines_have_their_own(
    ground, cell, precisions, manifest, machine
):
    ground.peaks().keep(CELL, ["float32"], FOUND)
    assert ground.peaks(manifest, machine).get(cell, precisions) is None


def test_peaks_that_other_code_measured_are_measured_again(ground):
    ground.peaks().keep(CELL, ["float32"], FOUND)
    assert ground.peaks(code="another digest").get(CELL, ["float32"]) is None


@pytest.mark.parametrize("failed", [{"reason": "failed: boom"}, {**FOUND, "reasons": {"copy": "no memory"}}])
def test_a_measurement_that_failed_is_not_kept(ground, failed):
    assert ground.peaks().keep(CELL, ["float32"], failed) == failed
    assert ground.peaks().get(CELL, ["float32"]) is None


@given(text=st.one_of(st.text(), st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps)))
def test_a_damaged_file_is_as_if_it_were_not_there(tmp_path_factory, text):
    ground = Ground(tmp_path_factory.mktemp("ground"))
    ground.peaks().keep(CELL, ["float32"], FOUND)
    (path,) = (ground.folder / "peaks").iterdir()
    path.write_text(text, errors="replace")
    assert ground.peaks().get(CELL, ["float32"]) is None
    assert ground.peaks().keep(CELL, ["float32"], FOUND) == FOUND


def test_rates_that_no_measurement_gives_are_not_believed(ground):
    ground.peaks().keep(CELL, ["float32"], FOUND)
    (path,) = (ground.folder / "peaks").iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), "flops_per_s": {"float32": "fast"}}))
    assert ground.peaks().get(CELL, ["float32"]) is None


def test_a_folder_that_cannot_be_written_costs_only_a_measurement(ground):
    (ground.folder / "peaks").write_text("a file")
    assert ground.peaks().keep(CELL, ["float32"], FOUND) == FOUND


def test_a_write_that_fails_leaves_nothing_behind(ground, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(staging.os, "fsync", full)
    ground.peaks().keep(CELL, ["float32"], FOUND)
    assert list((ground.folder / "peaks").iterdir()) == []
