"""Tests how a row's energy is read, with fake counters."""

from __future__ import annotations

from dataclasses import replace

from laboratory import A, B, Driver, FakeWorker, laboratory

from bench.host.machine.energy import Counter, Power

__all__ = ["laboratory"]


def test_a_record_says_why_a_device_has_no_energy(laboratory):
    class Divided(Power):
        def obstacle(self, device, own=frozenset()):
            return f"a slice of the {device}"

    laboratory.energy_s, laboratory.power = 2.0, Divided({})
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}])
    (first, second) = laboratory.go([replace(A, device="gpu")])
    assert [record.energy for record in (first, second)] == [{}, {}]
    assert first.settings == {"threads": 2, "processes": 1, "energy": "a slice of the gpu"}


def test_energy_is_read_while_each_cell_works_alone_and_once_at_rest(laboratory, monkeypatch):
    made = []

    class Meter:
        def __init__(self, counter):
            made.append(counter.name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def watts(self):
            return 100.0 + len(made)

    monkeypatch.setattr("bench.host.executors.cell_process.PowerMeter", Meter)
    monkeypatch.setattr("bench.host.machine.energy.PowerMeter", Meter)
    laboratory.energy_s, laboratory.power = (
        2.0,
        Power({"cpu": Counter("RAPL", lambda: 1.0)}, sleep=lambda seconds: None),
    )
    records = [record for record in laboratory.go([A, B]) if record.round == 0]
    assert made == ["RAPL"] * 3 * 2
    done = {"counter": "RAPL", "idle_watts": 101.0, "steps": 50, "seconds": 2.0}
    assert [record.energy for record in records] == [{**done, "watts": 102.0}, {**done, "watts": 103.0}]


def test_without_a_counter_nothing_works_for_energy(laboratory):
    laboratory.energy_s = 2.0
    assert [record.energy for record in laboratory.go([A])] == [{}, {}]
    assert ("work", A.column) not in laboratory.stage.log


def test_the_counter_is_that_of_the_gpus_with_our_workers(laboratory):
    asked = []

    class Watched(Power):
        def counter(self, device, own=frozenset()):
            asked.append((device, sorted(own)))

    laboratory.energy_s, laboratory.power = 2.0, Watched()
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}])
    laboratory.go([replace(A, device="gpu")])
    assert asked == [("gpu", [FakeWorker.process_id])] * 2
