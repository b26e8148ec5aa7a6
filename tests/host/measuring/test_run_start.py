"""Tests how a new run is described when it begins."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from example_study import study

from bench.host.measuring.run_start import RunStart
from bench.host.study.selection import Selection, select


@pytest.fixture
def _far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/Los_Angeles")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_far_from_greenwich")
def test_a_run_has_its_start_in_utc_and_is_named_by_it(tmp_path: Path) -> None:
    """In local time, runs of machines in two zones stood in the wrong order: a slowdown was reported as faster."""
    found = study()
    before = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    start = RunStart(tmp_path, tmp_path / "reports", found, select(found, Selection()), {}, print, {})
    begun = start._begin("abcdef123456", {})
    assert before <= begun.started <= time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    assert begun.run == f"{begun.started.replace('-', '').replace(':', '').replace(' ', '-')}-abcdef"
