"""Tests an epoch with a device that is there for a moment only."""

from __future__ import annotations

from types import SimpleNamespace

from bench.program import Program
from bench.worker.learning.training import Training


class Device:
    """Copies arrays after ``put`` has returned, as JAX does to a GPU."""

    def __init__(self):
        self.copying = set()

    def put(self, array):
        self.copying.add(array)
        return array

    def synchronize(self, outputs):
        self.copying -= set(outputs.values())


def test_batches_lie_on_the_device_before_the_clock_starts(monkeypatch):
    monkeypatch.setattr(Training, "_evaluated", lambda self: {})
    monkeypatch.setattr(Training, "_update", lambda self: None)
    device, copying = Device(), []

    def run(batches):
        copying.append(sorted(device.copying))
        return {"loss": "loss"}

    lessons = SimpleNamespace(batches=lambda epoch: [("images", "labels"), ("others", "theirs")])
    Training(lessons, Program(run), run, device).run_epoch()
    assert copying == [[]]
