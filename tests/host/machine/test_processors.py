"""Tests which processors count as cores."""

from __future__ import annotations

import pytest

from bench.host.machine import processors
from bench.host.machine.processors import beside, chosen, frequencies_mhz, physical_cores, shares


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return what makes a machine with these cores, memory and speeds, one value for each processor."""
    monkeypatch.setattr(processors, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(processors, "SYSTEM", tmp_path)

    def make(cores, nodes=(), khz=(), sockets=(0,) * 8):
        places = enumerate(zip(sockets, cores, strict=False))
        blocks = [f"processor\t: {n}\nphysical id\t: {p}\ncore id\t\t: {c}\n" for n, (p, c) in places]
        processors.CPUINFO.write_text("\n".join(blocks))
        for number, node in enumerate(nodes):
            (tmp_path / f"cpu{number}" / f"node{node}").mkdir(parents=True)
        for number, speed in enumerate(khz):
            (tmp_path / f"cpu{number}" / "cpufreq").mkdir()
            (tmp_path / f"cpu{number}" / "cpufreq" / "cpuinfo_max_freq").write_text(f"{speed}\n")
        allow(range(len(cores)))

    def allow(numbers):
        monkeypatch.setattr(processors, "available", lambda: set(numbers))

    make.allow = allow
    return make


def test_processors_that_share_a_core_count_once(machine):
    machine([0, 1] * 4, sockets=[0, 0, 1, 1] * 2)
    assert physical_cores() == 4
    machine.allow({0, 4})
    assert physical_cores() == 1
    machine.allow({0, 1, 6})
    assert physical_cores() == 3


def test_without_cores_in_cpuinfo_every_processor_counts(machine):
    machine.allow({0, 1, 2})
    assert physical_cores() == 3
    processors.CPUINFO.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\n")
    machine.allow({0, 1})
    assert physical_cores() == 2
    machine.allow(())
    assert physical_cores() == 1


def test_beside_are_other_cores(machine):
    machine([0, 1, 2, 3] * 2, [0] * 8)
    assert chosen(2) == (2, 3)
    assert beside(chosen(1)) == (2,)
    assert beside(chosen(2)) == (0, 1)


def test_beside_is_empty_where_cores_are_too_few(machine):
    machine([0, 1] * 2, [0] * 4)
    assert beside(chosen(1)) == (0,)
    assert beside(chosen(2)) == ()


def test_beside_is_the_same_memory(machine):
    machine(range(4), [0, 1, 0, 1])
    assert beside(chosen(1)) == (1,)
    assert beside(chosen(2)) == ()


def test_beside_is_as_fast(machine):
    machine(range(3), [0] * 3, [3_000_000, 5_000_000, 3_000_000])
    assert beside(chosen(1)) == (0,)


def test_frequencies_are_those_that_the_machine_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(processors, "SYSTEM", tmp_path)
    for number, text in ((0, "2100000\n"), (1, "<unknown>\n"), (3, "800000\n")):
        (tmp_path / f"cpu{number}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{number}" / "cpufreq" / "scaling_cur_freq").write_text(text)
    assert frequencies_mhz([0, 1, 2, 3]) == [2100.0, 800.0]
    assert frequencies_mhz([2]) == []


def test_shares_keep_the_processors_of_a_core_together_and_leave_out_a_rest(machine):
    machine([0, 1, 2] * 2)
    assert shares(1) == [(0,), (3,), (1,), (4,), (2,), (5,)]
    assert shares(2) == [(0, 3), (1, 4), (2, 5)]
    assert shares(4) == [(0, 3, 1, 4)]
    assert shares(8) == []
    machine.allow({1, 4})
    assert shares(1) == [(1,), (4,)]
