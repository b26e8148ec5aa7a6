"""Tests how power is read from counters, with a clock and counters that only the tests advance."""

from __future__ import annotations

import pytest
from fake_nvml import Nvml

from bench.host.machine.energy import (
    LEAST_CHANGES,
    OF_A_SLICE,
    Counter,
    Power,
    PowerMeter,
    gpu_counter,
    obstacle_of_gpus,
    processor_counter,
)


class Device:
    """Takes 50 W for a second, then 200 W; its counter is renewed ten times a second. A reading takes 20 ms."""

    def __init__(self, seconds):
        self.now, self.seconds, self.readings = 0.0, seconds, 0

    def read(self):
        self.readings += 1
        self.now += 0.02
        seen = int(self.now * 10 + 1e-6) / 10
        return 50.0 * min(seen, 1.0) + 200.0 * max(0.0, seen - 1.0)

    def measure(self):
        with PowerMeter(Counter("x", self.read), lambda: self.now, lambda ended: self.now >= self.seconds) as meter:
            meter._thread.join()
        return meter


def test_power_is_what_was_counted_between_two_changes_without_the_settling():
    assert Device(5.0).measure().watts() == pytest.approx(200.0, rel=0.02)


def test_too_few_changes_give_no_power():
    assert Device(1.0 + 0.1 * (LEAST_CHANGES - 2)).measure().watts() is None


def test_a_counter_that_stops_answering_gives_no_power():
    with PowerMeter(Counter("x", lambda: None)) as meter:
        pass
    assert meter.watts() is None


def package(folder, name, joules, span=1000):
    place = folder / name
    place.mkdir(exist_ok=True)
    (place / "energy_uj").write_text(f"{int(joules * 1e6)}\n")
    (place / "max_energy_range_uj").write_text(f"{int(span * 1e6)}\n")


def test_processors_count_all_packages_and_go_on_after_an_overflow(tmp_path):
    counter = processor_counter(tmp_path)
    assert counter.read() is None
    package(tmp_path, "intel-rapl:0", 990)
    package(tmp_path, "intel-rapl:1", 10)
    package(tmp_path, "intel-rapl:0:0", 7777)
    assert counter.read() == 1000
    package(tmp_path, "intel-rapl:0", 5)
    assert counter.read() == 1000 + 15


def test_packages_that_may_not_be_read_count_nothing(tmp_path):
    (tmp_path / "intel-rapl:0").mkdir()
    assert processor_counter(tmp_path).read() is None


def test_gpus_count_millijoules_together():
    library = Nvml()
    assert gpu_counter(library).read() == 4.5
    assert library.open == 0


def test_gpus_on_which_no_worker_is_take_no_energy_of_ours():
    library = Nvml()
    assert gpu_counter(library, {11}).read() == 3.0
    assert gpu_counter(library, {10, 11}).read() == 4.5
    # In a container, process numbers differ from those of the driver.
    assert gpu_counter(library, {12}).read() == 4.5
    assert library.open == 0


@pytest.mark.parametrize("library", [Nvml(absent=True), Nvml(old=True)], ids=["no driver", "a GPU before Volta"])
def test_gpus_without_a_counter_count_nothing(library):
    assert gpu_counter(library).read() is None
    assert library.open == 0


def test_a_device_without_a_counter_has_none():
    power = Power({"cpu": Counter("RAPL", lambda: None), "gpu": Counter("NVML", lambda: 1.0)})
    assert power.counter("cpu") is None
    assert power.counter("gpu").name == "NVML"
    assert power.counter("tpu") is None


def test_a_slice_has_no_energy_and_the_reason_is_told():
    library = Nvml(slices=((1, 1, 16384),))
    # Process 20 is on the slice, process 10 on the GPU that is not divided.
    assert gpu_counter(library, {20}).read() is None
    assert obstacle_of_gpus(library, {20}) == OF_A_SLICE
    assert gpu_counter(library, {10}).read() == 1.5
    assert obstacle_of_gpus(library, {10}) == ""
    # Where the driver shows none of our processes, the slice may be ours.
    assert gpu_counter(library, {12}).read() is None
    assert library.open == 0


@pytest.mark.parametrize("library", [Nvml(absent=True), Nvml(old=True)], ids=["no driver", "a GPU before Volta"])
def test_another_gpu_without_a_counter_has_no_known_obstacle(library):
    assert obstacle_of_gpus(library) == ""
