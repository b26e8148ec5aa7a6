"""Tests what is counted of others: with a made-up /proc, and once beside a process that computes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_project import wait_for

from bench.host.machine.other_load import ERRORS, CpuTimes, OtherLoad

#: Seconds of a processor that the other process has.
COMPUTED_S = 2.0
TICKS = os.sysconf("SC_CLK_TCK")


class Proc:
    """A made-up /proc."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process(os.getpid(), 10, 10)

    def process(self, number: int, user: int, system: int, ended: int = 0, children: tuple[int, ...] = ()) -> None:
        own = self.folder / str(number)
        (own / "task" / str(number)).mkdir(parents=True, exist_ok=True)
        (own / "stat").write_text(f"{number} (a) b) S 1 2 3 4 5 6 7 8 9 10 {user} {system} {ended} 0 20 0\n")
        (own / "task" / str(number) / "children").write_text(" ".join(map(str, children)))

    def processors(self, *busy: int) -> None:
        """Let each have computed for so many ticks, and waited or been robbed for a thousand times as many."""
        lines = [f"cpu{number} {ticks - 5} 1 1 99000 99000 1 2 99000 7 0" for number, ticks in enumerate(busy)]
        (self.folder / "stat").write_text("\n".join(["cpu  1 1 1 1 1 1 1 1 0 0", *lines, "intr 5 5"]) + "\n")


@pytest.fixture
def proc(tmp_path):
    return Proc(tmp_path)


def test_busy_is_what_the_bound_processors_did(proc):
    proc.processors(100, 200, 400)
    reading = OtherLoad([0, 2], proc.folder).read([])
    assert reading.busy_s == pytest.approx(500 / TICKS)
    assert OtherLoad([], proc.folder).read([]).busy_s == pytest.approx(700 / TICKS)


def test_a_processs_own_is_its_childrens_too(proc):
    """A container's first process only waits for the second."""
    proc.processors(100)
    proc.process(7, 1, 2, ended=4, children=(8,))
    proc.process(8, 100, 50, children=(9,))
    proc.process(9, 1000, 500)
    own = OtherLoad([0], proc.folder).read([7]).own_s
    assert own == pytest.approx({7: 1657 / TICKS, os.getpid(): 20 / TICKS})


@pytest.mark.parametrize("gone", ["stat", "7/stat", "7/task/7/children"])
def test_what_the_kernel_does_not_tell_is_not_known(proc, gone):
    proc.processors(100)
    proc.process(7, 1, 1)
    (proc.folder / gone).unlink()
    assert OtherLoad([0], proc.folder).read([7]) is None


def test_nonsense_is_not_believed(proc):
    (proc.folder / "stat").write_text("cpu0 1 2 three 4 5 6 7 8\n")
    assert OtherLoad([0], proc.folder).read([]) is None
    (proc.folder / "stat").write_text("nothing\n")
    assert OtherLoad([0], proc.folder).read([]) is None


def reading(clock_s: float, busy_s: float, **own_s: float) -> CpuTimes:
    return CpuTimes(clock_s, busy_s, {int(name[1:]): value for name, value in own_s.items()})


def test_what_others_had_is_what_was_busy_and_not_our_own():
    load = OtherLoad([0, 1])
    before, now = reading(10.0, 100.0, p1=5.0, p2=50.0), reading(14.0, 107.0, p1=5.5, p2=52.5)
    error = ERRORS * (7.0 / TICKS) ** 0.5
    assert load.since(before, now) == pytest.approx((7.0 - 3.0 - error) / 4.0)


def test_others_have_no_less_than_nothing():
    assert OtherLoad([0]).since(reading(1.0, 5.0, p1=0.0), reading(2.0, 5.9, p1=1.0)) == 0.0


def test_who_is_gone_has_taken_his_account_with_him():
    load = OtherLoad([0])
    before = reading(1.0, 5.0, p1=0.0, p2=0.0)
    assert load.since(before, reading(2.0, 6.0, p1=1.0)) is None
    assert load.since(None, before) is load.since(before, None) is load.since(before, before) is None


@pytest.mark.real
def test_a_process_that_computes_is_seen_and_then_known_as_ones_own():
    load = OtherLoad([])
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            alone, together = load.read([]), load.read([busy.pid])
            # Neighbours may have the processors as well: what counts is the time that it has had, see
            # clock_getcpuclockid(3).
            wait_for(lambda: time.clock_gettime((~busy.pid << 3) | 2) > COMPUTED_S, 300)
            others_s, but_one_s = used_s(load, alone, load.read([])), used_s(load, together, load.read([busy.pid]))
        finally:
            busy.kill()
    assert others_s > COMPUTED_S / 2
    assert but_one_s < others_s - COMPUTED_S / 2


def used_s(load: OtherLoad, before: CpuTimes | None, now: CpuTimes | None) -> float:
    """Return the seconds of processors that others used between two readings."""
    found = load.since(before, now)
    assert found is not None
    return found * (now.clock_s - before.clock_s)
