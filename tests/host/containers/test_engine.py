"""Tests which engine is used, and the message when there is none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from simulated_clock import Clock

from bench.host.containers import engine as engines
from bench.host.containers.engine import EngineConnection, NoEngine, connect


@pytest.fixture
def tried(monkeypatch):
    """The addresses that were tried; no engine answers at any."""
    places = []

    def refuse(place):
        places.append((place.address, place.origin))
        raise FileNotFoundError

    monkeypatch.setattr(engines, "_probe", refuse)
    return places


def context(folder, name: str, host: str) -> None:
    import hashlib

    meta = folder / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
    meta.mkdir(parents=True)
    described = {"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": host, "SkipTLSVerify": False}}}
    (meta / "meta.json").write_text(json.dumps(described))


def test_docker_host_is_the_only_place(tried):
    message = r"no container engine answers: unix:///a.sock \(DOCKER_HOST\): the socket does not exist"
    with pytest.raises(NoEngine, match=message):
        connect({"DOCKER_HOST": "unix:///a.sock", "DOCKER_CONTEXT": "other"})
    assert tried == [("unix:///a.sock", "DOCKER_HOST")]


def test_the_chosen_context_is_the_only_place(tried, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    context(tmp_path, "lab", "unix:///lab.sock")
    (tmp_path / "config.json").write_text('{"currentContext": "lab"}')
    with pytest.raises(NoEngine):
        connect({"DOCKER_CONFIG": str(tmp_path)})
    with pytest.raises(NoEngine):
        connect({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "lab"})
    assert tried == [("unix:///lab.sock", "context 'lab'")] * 2


def test_a_missing_context_is_reported(tried, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with pytest.raises(NoEngine, match=r"'nowhere' does not exist\. List them with: docker context ls"):
        connect({"DOCKER_CONTEXT": "nowhere", "DOCKER_CONFIG": str(tmp_path)})
    assert tried == []


def test_the_usual_sockets_of_docker_and_podman_are_tried_in_turn(tried, tmp_path):
    for name in ("docker.sock", "podman/podman.sock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(NoEngine, match="To use containers, start one"):
        connect({"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)})
    mine = [address for address, _ in tried if str(tmp_path) in address]
    assert mine == [f"unix://{tmp_path}/docker.sock", f"unix://{tmp_path}/podman/podman.sock"]


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:1", "unix:///nowhere.sock"])
def test_an_address_where_nothing_answers_is_no_engine(address):
    with pytest.raises(NoEngine, match="no container engine answers"):
        connect({"DOCKER_HOST": address})


class Api:
    def __init__(self) -> None:
        self.up = True

    def ping(self) -> bool:
        if not self.up:
            raise ConnectionResetError
        return True


def test_a_restarted_engine_is_found_again():
    first, second = Api(), Api()
    found = iter([engines.Engine("", "docker", "1", False, (), first), NoEngine("gone")])

    def find():
        each = next(found, replace_with)
        if isinstance(each, NoEngine):
            raise each
        return each

    replace_with = engines.Engine("", "docker", "2", False, (), second)
    line = EngineConnection(find, patience_s=5)
    assert line.engine().version == line.engine().version == "1"
    first.up = False
    assert line.engine().version == "2"


def test_an_engine_that_stays_away_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(engines, "time", clock := Clock())
    api = Api()
    found = iter([engines.Engine("", "docker", "1", False, (), api)])

    def find():
        for each in found:
            return each
        raise NoEngine("gone")

    line = EngineConnection(find, patience_s=0.3)
    line.engine()
    api.up = False
    with pytest.raises(NoEngine):
        line.engine()
    waited_s = clock.monotonic()
    assert 0.3 <= waited_s < 2
    with pytest.raises(NoEngine):
        line.engine()
    assert clock.monotonic() == waited_s


@pytest.mark.engine
def test_an_engine_reports_the_limits_it_can_enforce(engine):
    assert set(engine.describe()) == {"product", "version", "rootless", "limits"}
    assert engine.product in ("docker", "podman")
    assert replace(engine, rootless=True).describe()["rootless"]
