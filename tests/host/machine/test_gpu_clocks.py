"""Tests what is read of a GPU's clock, against a library that speaks like NVML."""

from __future__ import annotations

import pytest
from fake_nvml import Nvml

from bench.host.machine.gpu import Gpus
from bench.host.machine.gpu_clocks import Clocks, lowered, read


def test_the_clock_and_what_lowers_it_are_read():
    library = Nvml()
    library.reasons[1] = 0x04 | 0x40
    library.violations[1] = {0: 5, 1: 7}
    assert read(library, 0) == Clocks(1400.0, frozenset(), {"power cap": 0, "thermal slowdown": 0})
    told = {"power cap": 5, "thermal slowdown": 7}
    assert read(library, 1) == Clocks(1401.0, frozenset({"power cap", "thermal slowdown"}), told)


def test_an_idle_gpu_has_no_clock_as_it_falls():
    library = Nvml()
    library.reasons[0] = 0x01
    assert read(library, 0).mhz is None
    assert read(library, 0).reasons == frozenset()


def test_the_limits_of_every_gpu_are_no_reasons():
    library = Nvml()
    library.reasons[0] = 0x200 | 0x400
    assert read(library, 0).reasons == frozenset()


def test_an_old_driver_tells_its_reasons_by_their_old_name():
    library = Nvml(old=True)
    library.reasons[0] = 0x20
    assert read(library, 0) == Clocks(1400.0, frozenset({"thermal slowdown"}))


@pytest.mark.parametrize(
    "names",
    [
        ["nvmlDeviceGetCurrentClocksEventReasons"],
        ["nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"],
        ["nvmlDeviceGetViolationStatus"],
        ["nvmlDeviceGetClockInfo"],
    ],
)
def test_functions_that_an_old_library_lacks_are_passed_over(monkeypatch, names):
    for name in names:
        monkeypatch.delattr(Nvml, name)
    library = Nvml()
    library.reasons[0] = 0x04
    told = read(library, 0)
    assert told.mhz == (None if "nvmlDeviceGetClockInfo" in names else 1400.0)
    assert told.reasons == (frozenset() if len(names) == 2 else {"power cap"})
    assert bool(told.counted) == ("nvmlDeviceGetViolationStatus" not in names)


def test_counters_show_what_ended_before_the_reading():
    before = Clocks(1400.0, frozenset(), {"power cap": 5, "thermal slowdown": 7})
    now = Clocks(1400.0, frozenset({"sync boost"}), {"power cap": 6, "thermal slowdown": 7})
    assert lowered(before, now) == {"power cap", "sync boost"}
    # Without a reading before, nobody can tell when that was.
    assert lowered(None, now) == {"sync boost"}
    assert lowered(Clocks(), now) == {"sync boost"}


def mhz(library, numbers):
    return {number: one.mhz for number, one in Gpus(library).clocks(numbers).items()}


def test_clocks_are_those_of_the_gpus_with_our_workers():
    library = Nvml()
    assert Gpus(library).ours({11}) == [1]
    assert Gpus(library).ours({10, 11}) == [0, 1]
    # Which of several is ours is not known.
    assert Gpus(library).ours({12}) == []
    assert mhz(library, [1]) == {1: 1401.0}
    assert mhz(library, [0, 1]) == {0: 1400.0, 1: 1401.0}
    assert library.open == 0


def test_without_a_driver_there_are_no_clocks():
    assert Gpus(Nvml(absent=True)).ours({10}) == []
    assert mhz(Nvml(absent=True), [0]) == {}


def test_the_only_gpu_is_ours_wherever_our_processes_are(monkeypatch):
    monkeypatch.setattr(Nvml, "nvmlDeviceGetCount", lambda library: 1)
    assert Gpus(Nvml()).ours({12}) == [0]


def test_a_gpu_that_cannot_be_opened_has_no_clock():
    assert Gpus(Nvml(lost=True)).ours({11}) == [2]
    assert mhz(Nvml(lost=True), [1, 2]) == {2: 1401.0}


def test_the_clock_of_a_slice_is_that_of_its_gpu():
    library = Nvml(slices=((1, 1, 16384),))
    assert Gpus(library).ours({20}) == [1]
    assert mhz(library, [1]) == {1: 1401.0}


def test_limits_are_written_with_their_defaults_where_they_differ():
    power = "500 W (default 700 W)"
    assert Gpus(Nvml()).limits([0]) == {"GPU application clock": "1200 MHz", "GPU power limit": power}
    assert Gpus(Nvml()).limits([1]) == {
        "GPU application clock": "1200 MHz (default 1500 MHz)",
        "GPU power limit": power,
    }
    both = {
        "GPU application clock": "1200 MHz and 1200 MHz (default 1500 MHz)",
        "GPU power limit": power,
    }
    assert Gpus(Nvml()).limits([0, 1]) == both
    assert Gpus(Nvml(old=True)).limits([0]) == {"GPU application clock": "1200 MHz"}
