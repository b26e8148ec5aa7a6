"""Tests which processors count as cores."""

from __future__ import annotations

from pathlib import Path

from bench.host.machine.processors import beside, chosen, frequencies_mhz, physical_cores, shares


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


class Machine:
    """Processors with the cores, the memory and the speed that a test gives them."""

    def __init__(self, folder: Path, cores: list[int], nodes: list[int], khz: list[int] | None = None) -> None:
        self.cpuinfo, self.system = folder / "cpuinfo", folder / "cpu"
        blocks = [f"processor\t: {n}\nphysical id\t: 0\ncore id\t\t: {core}\n" for n, core in enumerate(cores)]
        self.cpuinfo.write_text("\n".join(blocks), encoding="utf-8")
        for number, node in enumerate(nodes):
            (self.system / f"cpu{number}" / f"node{node}").mkdir(parents=True)
            if khz:
                (self.system / f"cpu{number}" / "cpufreq").mkdir()
                (self.system / f"cpu{number}" / "cpufreq" / "cpuinfo_max_freq").write_text(f"{khz[number]}\n")
        self.allowed = set(range(len(cores)))

    def beside(self, count: int) -> tuple[int, ...]:
        return beside(chosen(count, self.cpuinfo, self.allowed), self.cpuinfo, self.allowed, self.system)


def test_beside_are_other_cores(tmp_path: Path) -> None:
    machine = Machine(tmp_path, [0, 1, 2, 3] * 2, [0] * 8)
    assert chosen(2, machine.cpuinfo, machine.allowed) == (2, 3)
    assert machine.beside(1) == (2,)
    assert machine.beside(2) == (0, 1)


def test_beside_is_empty_where_cores_are_too_few(tmp_path: Path) -> None:
    machine = Machine(tmp_path, [0, 1] * 2, [0] * 4)
    assert machine.beside(1) == (0,)
    assert machine.beside(2) == ()


def test_beside_is_the_same_memory(tmp_path: Path) -> None:
    machine = Machine(tmp_path, [0, 1, 2, 3], [0, 1, 0, 1])
    assert machine.beside(1) == (1,)
    assert machine.beside(2) == ()


def test_beside_is_as_fast(tmp_path: Path) -> None:
    machine = Machine(tmp_path, [0, 1, 2], [0] * 3, [3_000_000, 5_000_000, 3_000_000])
    assert machine.beside(1) == (0,)


def test_frequencies_are_those_that_the_machine_tells(tmp_path: Path) -> None:
    for number, text in ((0, "2100000\n"), (1, "<unknown>\n"), (3, "800000\n")):
        (tmp_path / f"cpu{number}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{number}" / "cpufreq" / "scaling_cur_freq").write_text(text)
    assert frequencies_mhz([0, 1, 2, 3], tmp_path) == [2100.0, 800.0]
    assert frequencies_mhz([2], tmp_path) == []


def test_shares_keep_the_processors_of_a_core_together_and_leave_out_a_rest(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    blocks = [f"processor\t: {n}\nphysical id\t: 0\ncore id\t: {n % 3}\n" for n in range(6)]
    cpuinfo.write_text("\n".join(blocks))
    everything = set(range(6))
    assert shares(1, cpuinfo, everything) == [(0,), (3,), (1,), (4,), (2,), (5,)]
    assert shares(2, cpuinfo, everything) == [(0, 3), (1, 4), (2, 5)]
    assert shares(4, cpuinfo, everything) == [(0, 3, 1, 4)]
    assert shares(1, cpuinfo, {1, 4}) == [(1,), (4,)]
    assert shares(8, cpuinfo, everything) == []
