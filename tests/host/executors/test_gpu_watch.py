"""Tests what is seen on the GPUs of a row while its cells take turns, with a fake driver."""

from __future__ import annotations

from dataclasses import replace

from laboratory import A, Driver, FakeWorker, laboratory

from bench.host.machine.gpu_clocks import Clocks

__all__ = ["laboratory"]


def test_the_driver_is_read_after_every_turn_and_the_largest_memory_kept(laboratory):
    gpu = replace(A, device="gpu")
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}, {FakeWorker.process_id: 9}, {FakeWorker.process_id: 7}])
    (first, second) = laboratory.go([gpu])
    assert first.memory == {"peak_bytes": 7, "nvml_peak_bytes": 9}
    assert second.memory == {"peak_bytes": 7, "nvml_peak_bytes": 7}
    assert first.disturbed == second.disturbed == {}


def test_another_process_on_the_gpu_disturbs_the_turn_which_is_taken_again(laboratory):
    gpu = replace(A, device="gpu")
    own, stranger = {FakeWorker.process_id: 5}, {FakeWorker.process_id: 5, 1 << 29: 100}
    laboratory.gpus = Driver([own, stranger, own])
    (first, second) = laboratory.go([gpu])
    assert first.disturbed == {"1": f"another process on the GPU: {1 << 29}"}
    assert (first.sample_turn, second.sample_turn) == ([0, 1, 2, 3, 4], [0, 1, 2, 3])


def test_a_process_on_another_gpu_disturbs_nothing(laboratory):
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}], beside={1 << 29: 100})
    (first, second) = laboratory.go([replace(A, device="gpu")])
    assert first.disturbed == second.disturbed == {}


def test_a_desktop_on_the_gpu_disturbs_nothing(laboratory):
    desktop, both = 1 << 29, {FakeWorker.process_id: 5, 1 << 29: 100}
    laboratory.gpus = Driver([both], draw={desktop})
    assert [record.disturbed for record in laboratory.go([replace(A, device="gpu")])] == [{}, {}]


def test_who_computes_beside_a_desktop_disturbs(laboratory):
    found = {FakeWorker.process_id: 5, 1 << 28: 7, 1 << 29: 100}
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}, found, {FakeWorker.process_id: 5}], draw={1 << 29})
    (first, _) = laboratory.go([replace(A, device="gpu")])
    assert first.disturbed == {"1": f"another process on the GPU: {1 << 28}"}


def test_clocks_of_the_gpu_and_what_limited_them_are_kept(laboratory):
    capped = Clocks(1200.0, frozenset({"power cap"}))
    readings = [Clocks(300.0), Clocks(1900.0), capped, Clocks(None), Clocks(1800.0)]
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}], clocks=readings)
    (first, second) = laboratory.go([replace(A, device="gpu")])
    # The reading before the first sample is of a GPU that had nothing to do.
    assert (first.gpu_frequency_mhz, first.gpu_clock_limits) == ([1200.0, 1900.0], {"power cap": 1})
    assert (second.gpu_frequency_mhz, second.gpu_clock_limits) == ([1800.0, 1800.0], {})
    assert first.disturbed == {}, "a power cap is a property of the machine"
    assert first.settings["GPU power limit"] == "500 W (default 700 W)"


def test_a_turn_in_which_the_gpu_was_too_hot_is_taken_again(laboratory):
    counted = [Clocks(1900.0, counted={"thermal slowdown": ns}) for ns in (3, 3, 8, 8)]
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}], clocks=counted)
    (first, second) = laboratory.go([replace(A, device="gpu")])
    assert first.disturbed == {"1": "thermal slowdown of the GPU"}
    assert first.gpu_clock_limits == {"thermal slowdown": 1}
    assert (first.sample_turn, second.sample_turn) == ([0, 1, 2, 3, 4], [0, 1, 2, 3])


def test_a_turn_has_every_reason_that_was_seen(laboratory):
    hot = Clocks(1900.0, frozenset({"thermal slowdown", "power brake"}))
    laboratory.gpus = Driver([{FakeWorker.process_id: 5, 1 << 29: 1}], clocks=[Clocks(1900.0), hot, Clocks(1900.0)])
    (first, _) = laboratory.go([replace(A, device="gpu")])
    foreign = f"another process on the GPU: {1 << 29}"
    assert first.disturbed["0"] == f"power brake of the GPU; thermal slowdown of the GPU; {foreign}"
    assert first.disturbed["1"] == foreign


def test_a_trial_beside_others_is_not_repeated_for_a_hot_gpu(laboratory):
    hot = Clocks(1900.0, frozenset({"thermal slowdown"}))
    laboratory.gpus, laboratory.gpus_shared = Driver([{FakeWorker.process_id: 5}], clocks=[hot]), True
    (first, _) = laboratory.go([replace(A, device="gpu")])
    assert (first.disturbed, first.gpu_clock_limits) == ({}, {"thermal slowdown": 4})


def test_another_lane_on_the_gpu_disturbs_nothing(laboratory):
    own, lane = {FakeWorker.process_id: 5}, {FakeWorker.process_id: 5, 1 << 29: 100}
    laboratory.gpus, laboratory.gpus_shared = Driver([own, lane, own]), True
    (first, _) = laboratory.go([replace(A, device="gpu")])
    assert first.disturbed == {}


def test_the_driver_is_not_read_for_cells_of_the_processor(laboratory):
    laboratory.gpus = None
    assert [record.status for record in laboratory.go([A])] == ["ok", "ok"]
