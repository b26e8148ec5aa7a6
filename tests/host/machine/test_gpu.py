"""Tests what is read from NVML, against a library that speaks like it."""

from __future__ import annotations

import pytest
from fake_nvml import Nvml

from bench.host.machine import facts
from bench.host.machine.gpu import Gpus, bytes_of, other_processes, session_of


def test_every_process_on_any_gpu_is_listed_with_its_memory():
    library = Nvml()
    assert Gpus(library).process_bytes() == [{10: 100, 30: 0, 99: 5}, {11: 100, 30: 0, 99: 5}]
    assert library.open == 0


def test_who_computes_and_draws_on_a_gpu_has_its_memory_once(monkeypatch):
    library = Nvml()
    monkeypatch.setattr(library, "nvmlDeviceGetGraphicsRunningProcesses", library.nvmlDeviceGetComputeRunningProcesses)
    assert Gpus(library).process_bytes() == [{10: 100, 30: 0}, {11: 100, 30: 0}]


def test_the_free_memory_is_that_of_the_fullest_gpu():
    assert Gpus(Nvml()).free_bytes() == 599
    assert Gpus(Nvml(absent=True)).free_bytes() == 0


@pytest.fixture
def without_memory(monkeypatch):
    """Stand in for a driver that refuses to tell the memory, as where the GPU has none of its own."""

    def refuse(handle):
        raise Nvml.NVMLError

    library = Nvml()
    monkeypatch.setattr(library, "nvmlDeviceGetMemoryInfo", refuse)
    return library


def test_a_driver_that_does_not_tell_the_free_memory_has_none(without_memory):
    assert Gpus(without_memory).free_bytes() == 0
    assert without_memory.open == 0


def test_gpus_are_listed_with_their_memory_and_driver(without_memory):
    described = {"memory_bytes": 1000, "driver": "580.65"}
    assert facts.gpus(Nvml(old=True)) == [{"name": "GPU 0", **described}, {"name": "GPU 1", **described}]
    assert facts.gpus(without_memory) == [{"name": "GPU 0", "driver": "580.65"}, {"name": "GPU 1", "driver": "580.65"}]
    assert facts.gpus(Nvml(absent=True)) == []
    assert without_memory.open == 0


def test_a_gpu_that_cannot_be_opened_has_no_processes_and_keeps_its_number():
    library = Nvml(lost=True)
    assert Gpus(library).process_bytes() == [{10: 100, 30: 0, 99: 5}, {}, {11: 100, 30: 0, 99: 5}]
    assert Gpus(library).used_by({11}) == [2]
    assert Gpus(library).free_bytes() == 599
    assert library.open == 0


def test_the_facts_leave_out_a_gpu_that_cannot_be_opened():
    assert [gpu["name"] for gpu in facts.gpus(Nvml(lost=True))] == ["GPU 0", "GPU 1"]


def test_without_a_driver_there_are_no_processes():
    assert Gpus(Nvml(absent=True)).process_bytes() == []


def test_a_list_that_the_driver_does_not_have_is_passed_over():
    assert all(99 not in processes for processes in Gpus(Nvml(old=True)).process_bytes())


def test_a_worker_owns_what_its_children_use():
    sessions = {10: 10, 11: 10, 30: 7}.get
    gpus = [{10: 100, 30: 1}, {11: 50}]
    assert bytes_of(10, gpus, sessions) == 150
    assert other_processes({10}, gpus, sessions) == [30]
    assert other_processes(set(), [{}], sessions) == []
    # Process numbers that are not ours at all, as seen from within a container, cannot be told apart.
    assert other_processes({99}, gpus, sessions) == []


def test_processes_on_gpus_that_no_worker_uses_do_not_count():
    sessions = {10: 10, 30: 7, 40: 8}.get
    gpus = [{30: 1, 40: 1}, {10: 100, 30: 1}, {}]
    assert other_processes({10}, gpus, sessions) == [30]


def test_a_session_is_read_whatever_the_process_is_called(tmp_path):
    (tmp_path / "5").mkdir()
    (tmp_path / "5" / "stat").write_text("5 (a) b) S 1 5 42 0 -1")
    assert session_of(5, tmp_path) == 42
    assert session_of(6, tmp_path) is None


def test_who_only_draws_is_told_from_who_computes():
    library = Nvml()
    assert Gpus(library).drawing(1.5) == {99}
    assert library.since == [1_500_000] * 2
    library.used = {99: 10}
    assert Gpus(library).drawing(0.0) == {99}
    library.used = {99: 11}
    assert Gpus(library).drawing(0.0) == set()
    assert library.open == 0


def test_who_computes_and_draws_does_not_only_draw(monkeypatch):
    library = Nvml()
    monkeypatch.setattr(library, "nvmlDeviceGetGraphicsRunningProcesses", library.nvmlDeviceGetComputeRunningProcesses)
    assert Gpus(library).drawing(0.0) == set()


def test_a_driver_that_lists_no_processes_that_draw_has_none():
    assert Gpus(Nvml(old=True)).drawing(0.0) == set()
    assert Gpus(Nvml(absent=True)).drawing(0.0) == set()


def test_the_library_stays_open_while_it_is_held():
    library = Nvml()
    with Gpus(library).held():
        Gpus(library).process_bytes()
        assert library.open == 1
    assert library.open == 0


#: Slices of an H200: one of seven parts, three, and a compute instance of one part of two.
SLICES = ((1, 1, 16384), (3, 3, 71424), (2, 1, 33280))


def test_slices_stand_for_their_gpu_and_are_named_with_their_profile():
    found = facts.gpus(Nvml(slices=SLICES))
    assert [gpu["name"] for gpu in found] == ["GPU 0", "GPU 1 MIG 1g.18gb", "GPU 1 MIG 3g.71gb", "GPU 1 MIG 1c.2g.35gb"]
    assert [gpu["memory_bytes"] >> 20 for gpu in found] == [143771, 16384, 71424, 33280]


def test_a_profile_that_the_driver_has_in_the_name_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(Nvml, "nvmlDeviceGetName", lambda library, gpu: "NVIDIA A100-SXM4-40GB MIG 1g.5gb+me")
    assert facts.gpus(Nvml(slices=SLICES[:1]))[1]["name"] == "NVIDIA A100-SXM4-40GB MIG 1g.5gb+me"


def test_a_slice_whose_profile_the_driver_does_not_tell_is_still_a_slice(monkeypatch):
    monkeypatch.delattr(Nvml, "nvmlDeviceGetAttributes")
    assert [gpu["name"] for gpu in facts.gpus(Nvml(slices=SLICES[:1]))] == ["GPU 0", "GPU 1 MIG"]


def test_processes_on_another_slice_do_not_disturb():
    found = Gpus(Nvml(slices=SLICES)).process_bytes()
    assert found[1:] == [{20: 50, 99: 5}, {21: 50, 99: 5}, {22: 50, 99: 5}]
    assert other_processes({20}, found, lambda process: None) == [99]


def test_a_gpu_in_mig_mode_without_slices_stays_in_the_list(monkeypatch):
    monkeypatch.setattr(Nvml, "nvmlDeviceGetMigMode", lambda library, gpu: [1, 1])
    assert [gpu["name"] for gpu in facts.gpus(Nvml())] == ["GPU 0", "GPU 1"]
