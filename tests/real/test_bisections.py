"""Bisects twelve real releases: wheels from an index on this machine, installed beside NumPy by the installer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import _releases, bisections  # noqa: E402

#: Beside other tests, noise may leave a slowdown of 20 % open: none runs beside this one.
pytestmark = [pytest.mark.real, pytest.mark.alone, pytest.mark.long]


def test_a_planted_slowdown_is_found_with_few_environments(tmp_path: Path) -> None:
    _releases.write_plugin(tmp_path)
    with _releases.served(tmp_path, [20]):
        found = bisections.trial(tmp_path, 0, 20, 8)
    assert (found.outcome, found.planted) == ("at k", 8)
    assert found.environments <= 8
