"""Tests that the manifest of a run under way is stored with every change, with the seconds of waiting."""

from __future__ import annotations

import contextlib

import pytest
from simulated_clock import Clock

from bench.host.measuring import open_manifest
from bench.host.measuring.open_manifest import OpenManifest
from bench.host.refusal import Refused
from bench.host.storage.manifest import Manifest, SpentSeconds, read


@pytest.fixture
def opened(tmp_path):
    return OpenManifest(tmp_path, Manifest(run="r1"))


def test_a_change_is_stored_at_once_with_all_before_it(opened):
    opened.update(label="mine")
    assert read(opened.folder) == opened.now
    opened.update(host_peak_bytes=7)
    stored = read(opened.folder)
    assert (stored.run, stored.label, stored.host_peak_bytes) == ("r1", "mine", 7)


def test_seconds_are_added_and_stored_with_the_next_change(opened):
    opened.update()
    opened.spend(elapsed=2.0)
    opened.spend(elapsed=3.0, waited_for_workers=1.0)
    assert read(opened.folder).seconds == SpentSeconds()
    opened.update()
    assert read(opened.folder).seconds == SpentSeconds(elapsed=5.0, waited_for_workers=1.0)


def test_waiting_counts_also_where_it_is_interrupted(opened, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(open_manifest, "time", clock)
    with opened.waiting():
        clock.sleep(2.0)
    clock.sleep(8.0)
    with contextlib.suppress(KeyboardInterrupt), opened.waiting():
        clock.sleep(1.0)
        raise KeyboardInterrupt
    assert opened.now.seconds == SpentSeconds(waited_for_workers=3.0)


def test_a_manifest_that_cannot_be_written_is_refused_with_the_place(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match="file: cannot be used"):
        OpenManifest(tmp_path / "file", Manifest()).update(label="mine")
