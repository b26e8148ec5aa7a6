"""Tests counts in words."""

from __future__ import annotations

import pytest

from bench.host.counts import counted


@pytest.mark.parametrize(
    ("count", "nouns", "said"),
    [
        (0, ("cell",), "0 cells"),
        (1, ("cell",), "1 cell"),
        (2, ("cell",), "2 cells"),
        (1, ("process", "processes"), "1 process"),
        (3, ("process", "processes"), "3 processes"),
    ],
)
def test_one_of_something_is_not_in_the_plural(count, nouns, said):
    assert counted(count, *nouns) == said
