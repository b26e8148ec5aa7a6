"""Attacks on the clock: samples that cannot have been taken in the time that the host saw."""

from __future__ import annotations

import pytest

from bench.host.executors.host_clock import HostClock, Unbelievable


def clock_of(*readings_ms: float) -> HostClock:
    """A host's clock that says these milliseconds one after the other."""
    readings = iter(readings_ms)
    return HostClock(lambda: round(next(readings) * 1e6), processors=2)


def turn_of(clock: HostClock, sample_ms: float, cpu_ms: float = 0.0, clock_ns: int | None = None) -> None:
    clock.sent()
    clock.received()
    clock.verify({"sample_ns": [round(sample_ms * 1e6)], "sample_cpu_ns": [round(cpu_ms * 1e6)]}, 1, clock_ns)


def test_samples_must_fit_into_the_turn_that_the_host_saw():
    turn_of(clock_of(0, 100), 99)
    with pytest.raises(Unbelievable, match=r"timed 0\.11 s in a turn that took 0\.1 s"):
        turn_of(clock_of(0, 100), 110)
    with pytest.raises(Unbelievable, match="processors"):
        turn_of(clock_of(0, 100), 50, cpu_ms=400)


def test_a_clock_that_was_slowed_is_refused_and_an_honest_one_is_not():
    honest = clock_of(0, 50, 1000, 1050, 5000, 6000)
    for now_ms in (49, 1001, 5990):
        turn_of(honest, 10, clock_ns=round(now_ms * 1e6))
    slowed = clock_of(0, 50, 1000, 1050)
    turn_of(slowed, 1, clock_ns=4_900_000)
    with pytest.raises(Unbelievable, match="the worker's clock went"):
        turn_of(slowed, 1, clock_ns=100_100_000)


def test_the_host_asks_for_so_many_samples_and_gets_so_many():
    clock = clock_of(0, 1)
    clock.sent()
    clock.received()
    with pytest.raises(Unbelievable, match="2 samples were asked for, the worker sent 1"):
        clock.verify({"sample_ns": [1000], "sample_cpu_ns": [0]}, 2, None)
