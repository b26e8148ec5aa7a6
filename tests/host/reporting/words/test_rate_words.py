"""Tests how rates are written."""

from __future__ import annotations

import pytest

from bench.host.reporting.words.efficiency import format_rate


@pytest.mark.parametrize(
    ("rate", "share", "text"),
    [(None, None, "–"), (4.52e10, None, "45.2"), (4.52e10, 0.314, "45.2 (31%)"), (1e7, 0.001, "0.0100 (<1%)")],
)
def test_a_rate_is_written_with_its_share(rate, share, text):
    assert format_rate(rate, share, 1e9) == text
