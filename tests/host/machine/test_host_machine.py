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


def test_a_processor_is_told_by_its_name_and_numbers(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text("cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel name\t: another\n")
    told = facts.processor_facts(str(path))
    assert told["model name"] == "AMD EPYC"
    assert facts.processor_version(told) == "family 26, model 2"


def test_a_kernel_that_tells_nothing_of_the_processor(tmp_path):
    told = facts.processor_facts(str(tmp_path / "missing"))
    assert (told, facts.processor_version(told)) == ({}, "")
    assert facts.processor_model()
