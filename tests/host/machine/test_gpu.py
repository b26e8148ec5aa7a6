"""Tests what is read from NVML, against a library that speaks like it."""

from __future__ import annotations

from fake_nvml import Nvml

from bench.host.machine.gpu import Gpus, bytes_of, other_processes, session_of


def test_every_process_on_any_gpu_is_listed_with_its_memory():
    library = Nvml()
    assert Gpus(library).process_bytes() == {10: 100, 11: 100, 30: 0, 99: 10}
    assert library.open == 0


def test_who_computes_and_draws_on_a_gpu_has_its_memory_once(monkeypatch):
    library = Nvml()
    monkeypatch.setattr(library, "nvmlDeviceGetGraphicsRunningProcesses", library.nvmlDeviceGetComputeRunningProcesses)
    assert Gpus(library).process_bytes() == {10: 100, 11: 100, 30: 0}


def test_the_free_memory_is_that_of_the_fullest_gpu():
    assert Gpus(Nvml()).free_bytes() == 599
    assert Gpus(Nvml(absent=True)).free_bytes() == 0


def test_a_driver_that_does_not_tell_the_free_memory_has_none(monkeypatch):
    def refuse(handle):
        raise Nvml.NVMLError

    library = Nvml()
    monkeypatch.setattr(library, "nvmlDeviceGetMemoryInfo", refuse)
    assert Gpus(library).free_bytes() == 0
    assert library.open == 0


def test_without_a_driver_there_are_no_processes():
    assert Gpus(Nvml(absent=True)).process_bytes() == {}


def test_a_list_that_the_driver_does_not_have_is_passed_over():
    assert 99 not in Gpus(Nvml(old=True)).process_bytes()


def test_a_worker_owns_what_its_children_use():
    sessions = {10: 10, 11: 10, 30: 7}.get
    processes = {10: 100, 11: 50, 30: 1}
    assert bytes_of(10, processes, sessions) == 150
    assert other_processes({10}, processes, sessions) == [30]
    assert other_processes(set(), {}, sessions) == []
    # Process numbers that are not ours at all, as seen from within a container, cannot be told apart.
    assert other_processes({99}, processes, sessions) == []


def test_a_session_is_read_whatever_the_process_is_called(tmp_path):
    (tmp_path / "5").mkdir()
    (tmp_path / "5" / "stat").write_text("5 (a) b) S 1 5 42 0 -1")
    assert session_of(5, tmp_path) == 42
    assert session_of(6, tmp_path) is None
