"""Tests how the machine's load is measured before a run, with loads and a clock made by hand."""

from __future__ import annotations

import itertools

import pytest

from bench.host.machine.quiet import load_of, wait_until_quiet


class Machine:
    """Gives the loads one after the other, the last for ever; each measurement takes a second."""

    def __init__(self, *loads: float | None) -> None:
        self._loads = itertools.chain(loads, itertools.repeat(loads[-1]))
        self.measured = 0
        self.said: list[str] = []

    def measure(self) -> float | None:
        self.measured += 1
        return next(self._loads)

    def wait(self, wait_s: float) -> bool:
        return wait_until_quiet(self.measure, 2, wait_s, self.said.append, clock=lambda: float(self.measured))


@pytest.mark.parametrize("load", [0.0, 0.1, None])
def test_a_quiet_or_unknown_machine_is_measured_at_once_without_a_word(load):
    machine = Machine(load)
    assert machine.wait(60.0)
    assert (machine.measured, machine.said) == (1, [])


def test_a_busy_machine_is_said_with_the_load_and_the_remedy():
    machine = Machine(1.6)
    assert not machine.wait(0.0)
    assert machine.measured == 1
    assert machine.said == [
        "Other programs use 1.6 of 2 processors, which makes times unusable. Close them, or let the run wait for a "
        "quiet machine: --wait 10m"
    ]


def test_the_load_of_a_machine_with_one_processor_is_said_in_the_singular():
    machine = Machine(0.8)
    wait_until_quiet(machine.measure, 1, 0.0, machine.said.append)
    assert machine.said[0].startswith("Other programs use 0.8 of 1 processor, which")


def test_a_run_waits_until_several_measurements_in_a_row_are_quiet():
    machine = Machine(1.0, 1.0, 0.0, 0.9, 0.0, 0.0, 0.0)
    assert machine.wait(60.0)
    assert machine.measured == 7
    assert machine.said[-1] == "The machine is quiet now."


def test_the_wait_ends_after_its_time():
    machine = Machine(1.0)
    assert not machine.wait(5.0)
    assert machine.measured == 6
    assert "measuring all the same" in machine.said[-1]


def test_the_real_machine_answers():
    load = load_of([0])()
    assert load is None or 0.0 <= load <= 1.1
