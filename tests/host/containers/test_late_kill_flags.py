"""Tests that a kill for lack of memory is found in a container though Docker records it late."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.host.containers import worker as containers
from bench.host.containers.worker import ContainerWorker

KILLED, NOT_YET = {"ExitCode": 0, "OOMKilled": True}, {"ExitCode": 0, "OOMKilled": False}


@pytest.fixture
def ending(monkeypatch):
    """Make the worker of a container whose states are told so, in turn; the last one for all that follow."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(containers, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))

    def make(*states: dict | Exception, kills: int = 1, product: str = "docker") -> tuple[ContainerWorker, list[str]]:
        asked: list[str] = []
        left = list(states)

        def inspect(container: str) -> dict:
            asked.append(container)
            state = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(state, Exception):
                raise state
            return {"State": state}

        monkeypatch.setattr(containers, "oom_kills", lambda: kills)
        monkeypatch.setattr(containers, "drop_container", lambda engine, container: None)
        worker = object.__new__(ContainerWorker)
        worker._api = SimpleNamespace(inspect_container=inspect, wait=lambda container, timeout: None)
        worker._engine = SimpleNamespace(product=product)
        worker._stream = SimpleNamespace(end_input=lambda: None, drain=lambda seconds: True, close=lambda: None)
        worker._container, worker._gone, worker._paused, worker._oom_kills = "c", False, False, 0
        return worker, asked

    return make


def test_a_kill_that_is_recorded_late_is_waited_for(ending):
    worker, asked = ending(NOT_YET, NOT_YET, KILLED)
    worker.close()
    assert worker._lost_a_child()
    assert len(asked) == 3


def test_a_kill_in_the_container_of_a_parent_is_waited_for(ending):
    worker, asked = ending(NOT_YET, NOT_YET, KILLED)
    assert worker.lost_a_process(0)
    assert len(asked) == 3


@pytest.mark.parametrize(("kills", "product"), [(0, "docker"), (1, "podman")])
def test_where_nothing_was_killed_or_nothing_is_recorded_nobody_waits(ending, kills, product):
    worker, asked = ending(NOT_YET, KILLED, kills=kills, product=product)
    worker.close()
    assert not worker._lost_a_child()
    assert len(asked) == 1


def test_a_kill_elsewhere_on_the_machine_is_waited_for_a_second_at_most(ending):
    worker, asked = ending(NOT_YET)
    worker.close()
    assert not worker._lost_a_child()
    assert 10 < len(asked) < 100


def test_a_container_that_goes_meanwhile_keeps_its_last_state(ending):
    worker, _ = ending(NOT_YET, OSError("gone"))
    worker.close()
    assert worker._state == NOT_YET
