"""Tests what is read of the machine, and what is left out where it does not tell."""

from __future__ import annotations

import pytest

from bench.host.machine import facts


@pytest.mark.parametrize(
    ("told", "expected"), [("always [madvise] never\n", "madvise"), ("[always] madvise never\n", "always"), ("", "")]
)
def test_when_the_kernel_gives_huge_pages(tmp_path, told, expected):
    path = tmp_path / "enabled"
    path.write_text(told)
    assert facts.huge_pages(str(path)) == expected


def test_a_kernel_without_huge_pages_tells_nothing(tmp_path):
    assert facts.huge_pages(str(tmp_path / "missing")) == ""
