"""Tests that a paused container is resumed even where the engine records the pause late."""

from __future__ import annotations

from types import SimpleNamespace

import docker.errors
import pytest
from simulated_clock import Clock

from bench.host.containers import worker as containers
from bench.host.containers.worker import ContainerWorker


def paused(*answers: Exception | None) -> tuple[ContainerWorker, list[str]]:
    """Make the worker of a paused container, and the requests to resume it that an engine answers so, in turn."""
    asked: list[str] = []
    left = list(answers)

    def unpause(container: str) -> None:
        asked.append(container)
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer is not None:
            raise answer

    worker = object.__new__(ContainerWorker)
    worker._api, worker._container, worker._paused = SimpleNamespace(unpause=unpause), "c", True
    return worker, asked


def refusal(status: int) -> docker.errors.APIError:
    return docker.errors.APIError("Container c is not paused", response=SimpleNamespace(status_code=status))


def test_a_pause_that_is_recorded_late_is_ended_as_soon_as_it_is_recorded(monkeypatch):
    monkeypatch.setattr(containers, "time", Clock())
    worker, asked = paused(refusal(409), refusal(409), None)
    worker.resume()
    assert (len(asked), worker._paused) == (3, False)
    worker.resume()
    assert len(asked) == 3


@pytest.mark.parametrize("error", [refusal(404), docker.errors.DockerException("gone"), OSError("gone")])
def test_an_engine_or_a_container_that_is_gone_is_asked_once(error):
    worker, asked = paused(error)
    worker.resume()
    assert len(asked) == 1


def test_an_engine_that_keeps_refusing_is_given_up(monkeypatch):
    monkeypatch.setattr(containers, "time", clock := Clock())
    worker, asked = paused(refusal(409))
    worker.resume()
    assert len(asked) > 1
    assert containers.PAUSE_RECORDED_S < clock.monotonic() < 5
