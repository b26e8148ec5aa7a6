"""Tests how the number of steps is written after which a slower start has been made up for."""

from __future__ import annotations

import math

import pytest

from bench.host.reporting.words.startup import format_break_even


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (None, "–"),
        (math.inf, "never"),
        (0.0, "at once"),
        (0.2, "1"),
        (4119.3, "4100"),
        (98.2, "99"),
        (0.3e7, "3000000"),
    ],
)
def test_break_even_is_written_in_whole_steps_of_two_digits(steps, text):
    assert format_break_even(steps) == text
