"""Provides what attacks by processes share."""

from __future__ import annotations

import pytest

from bench.host.workers import control_group, guard


@pytest.fixture(params=["control group", "tree of processes"])
def grouped(request, monkeypatch):
    """Run with and without control groups."""
    if request.param == "tree of processes":
        monkeypatch.setattr(control_group, "own_group", lambda: None)
    elif guard.Guard().new_worker().group is None:
        pytest.skip("this user may not make control groups")
    guard.guard.cache_clear()
    yield request.param == "control group"
    guard.guard.cache_clear()
