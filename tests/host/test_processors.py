"""Tests which processors count as cores."""

from __future__ import annotations

from pathlib import Path

from bench.host.processors import physical_cores


def test_processors_that_share_a_core_count_once(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    places = [(0, 0), (0, 1), (1, 0), (1, 1)] * 2
    blocks = [f"processor\t: {n}\nphysical id\t: {p}\ncore id\t\t: {c}\n" for n, (p, c) in enumerate(places)]
    cpuinfo.write_text("\n".join(blocks), encoding="utf-8")
    assert physical_cores(cpuinfo, set(range(8))) == 4
    assert physical_cores(cpuinfo, {0, 4}) == 1
    assert physical_cores(cpuinfo, {0, 1, 6}) == 3


def test_without_cores_in_cpuinfo_every_processor_counts(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    assert physical_cores(cpuinfo, {0, 1, 2}) == 3
    cpuinfo.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\n", encoding="utf-8")
    assert physical_cores(cpuinfo, {0, 1}) == 2
    assert physical_cores(cpuinfo, set()) == 1
