"""Tests one training against a fake worker: what it is asked, and what is not believed."""

from __future__ import annotations

from typing import Any

import pytest
import trainings

from bench.host.measuring.training_process import TrainingProcess
from bench.host.workers.protocol import Ended
from bench.record import FAILED, MISMATCH, OK, TIMEOUT

CELL = trainings.cell()
LEARNING = {
    "event": "learning",
    **{"training": 42, "validation": 18, "batch": 5, "steps": 8, "start_s": 0.1, "data": "marks", "digest": "same"},
}
EPOCH = {"event": "epoch", "epoch": 1, "train_ns": 1000, "cpu_ns": 1000}
EPOCH.update({"accuracy": 0.5, "cross_entropy": 0.7, "squared_error": 0.25})


class FakeWorker:
    """Answers with what is prepared; an exception is raised."""

    stage = "measure"

    def __init__(self, **answers: Any) -> None:
        self.answers = {
            "import": {"event": "imported", "import_s": 0.1, "versions": {"torch": "1.13.1"}},
            "prepare": {"event": "prepared"},
            "learn": LEARNING,
            "epoch": {**EPOCH, "update": {"weight": [1.0]}},
            "finish": {"event": "finished", "settings": {"threads": 1}},
            **answers,
        }
        self.asked: list[str] = []
        self.killed = False

    def send(self, **request: Any) -> None:
        self.asked.append(request["do"])

    def receive(self, timeout_s: float) -> dict[str, Any]:
        answer = self.answers[self.asked[-1]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pause(self) -> None:
        self.asked.append("pause")

    def resume(self) -> None:
        self.asked.append("resume")

    def close(self) -> None: ...

    def kill(self) -> None:
        self.killed = True


def training_process(worker: FakeWorker, *, nudged: bool = False) -> TrainingProcess:
    return TrainingProcess(CELL, 7, lambda cell: worker, 60.0, nudged=nudged)


def test_a_training_grows_epoch_by_epoch_and_its_process_waits_stopped():
    worker = FakeWorker()
    one = training_process(worker)
    one.begin("same", {})
    one.run_epoch()
    worker.answers["epoch"] = {**EPOCH, "epoch": 2, "accuracy": 0.75}
    one.run_epoch()
    one.finish()
    assert one.trained.status == OK
    assert [epoch.accuracy for epoch in one.trained.epochs] == [0.5, 0.75]
    assert one.trained.update == {"weight": [1.0]}
    assert (one.trained.versions, one.trained.settings) == ({"torch": "1.13.1"}, {"threads": 1})
    assert worker.asked == ["resume", "import", "pause", "resume", "learn", "pause", *["resume", "epoch", "pause"] * 2,
                            "resume", "finish", "pause"]  # fmt: skip
    assert worker.killed


def test_other_weights_or_batches_than_the_hosts_are_a_mismatch():
    worker = FakeWorker()
    one = training_process(worker)
    one.begin("another", {})
    assert (one.trained.status, one.trained.stage) == (MISMATCH, "check")
    assert "other data, or another NumPy" in (one.trained.reason or "")
    assert worker.killed


def test_an_epoch_that_took_longer_than_the_host_waited_is_not_believed():
    one = training_process(FakeWorker(epoch={**EPOCH, "train_ns": 10**12}))
    one.begin("same", {})
    one.run_epoch()
    assert one.trained.status == FAILED
    assert "by the host's clock" in (one.trained.reason or "")
    assert one.trained.epochs == []


def test_the_end_of_a_worker_is_kept_and_nothing_more_is_asked():
    worker = FakeWorker(learn=Ended(TIMEOUT, "build", "no answer within 60 s"))
    one = training_process(worker)
    one.begin("same", {})
    before = list(worker.asked)
    one.run_epoch()
    one.finish()
    assert (one.trained.status, one.trained.stage, one.trained.reason) == (TIMEOUT, "build", "no answer within 60 s")
    assert worker.asked == before


@pytest.mark.parametrize("answer", [{"event": "turn"}, {"event": "learning"}])
def test_the_answer_to_another_request_ends_a_training(answer):
    one = training_process(FakeWorker(epoch=answer))
    one.begin("same", {})
    one.run_epoch()
    assert one.trained.status == FAILED
