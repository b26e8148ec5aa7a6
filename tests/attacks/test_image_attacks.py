"""Attacks from inside a container, on the image that it runs, and by what a killed run leaves on the engine."""

from __future__ import annotations

import json
import os
import signal

import pytest
import small_project
from container_fixtures import *  # noqa: F403
from container_project import BASE, forget, make_project
from tiny_framework import environment, write_lock
from wheels import make_wheel

from bench.host import environments, project
from bench.host.__main__ import main
from bench.host.containers import image, isolation, labels, seccomp, started_flag
from bench.host.containers.context import Extras
from bench.host.containers.isolation import VARIABLES, Bounds
from bench.host.workers.protocol import Ended
from bench.worker import family

pytestmark = pytest.mark.long

NAME = "attacked"

#: Numbers of system calls on x86-64 and 64-bit Arm; those of io_uring are the same everywhere.
CALLS = {
    "x86_64": {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "pidfd_getfd": 438},
    "aarch64": {"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "pidfd_getfd": 438},
}
IO_URING = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}


def names(rules) -> set[str]:
    return {name for rule in rules["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}


def test_the_list_of_system_calls_is_the_engines_without_those_that_reach_other_processes():
    default = json.loads(project.data(seccomp.DEFAULT).read_bytes())
    ours = json.loads(seccomp.profile())
    assert names(ours) == names(default) - seccomp.FORBIDDEN
    assert ours["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {"ptrace", "process_vm_readv"} <= names(default) & seccomp.FORBIDDEN
    assert set(IO_URING) <= seccomp.FORBIDDEN


def test_podman_gets_the_list_as_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = seccomp.option("podman").removeprefix("seccomp=")
    assert json.loads((tmp_path / "benchmatrix" / "seccomp.json").read_text()) == json.loads(seccomp.profile())
    assert path == str(tmp_path / "benchmatrix" / "seccomp.json")


@pytest.mark.engine
def test_no_call_that_reaches_other_processes_or_queues_calls_is_allowed(start):
    worker = start(
        "import ctypes, errno, platform\n"
        f"calls = dict({CALLS!r}[platform.machine()], **{IO_URING!r})\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "found = {}\n"
        "for name, number in calls.items():\n"
        "    ctypes.set_errno(0)\n"
        "    found[name] = (libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())\n"
        "found['getpid'] = (libc.syscall(39 if platform.machine() == 'x86_64' else 172) > 0, 0)\n"
        "say(event='is', value=found)\n"
    )
    found = worker.receive(90)["value"]
    assert found.pop("getpid") == [True, 0]
    assert {name: code for name, (answer, code) in found.items() if answer != -1 or code != 1} == {}


#: Starts processes that leave their session, one of them with a parent that ends; returns when all this has happened.
LEAVING = """
def leave():
    for orphan in (False, True):
        reading, writing = os.pipe()
        forked = os.fork()
        if not forked:
            os.setsid()
            if not orphan or not os.fork():
                os.write(writing, b"x")
                time.sleep(1000)
            os._exit(0)
        os.read(reading, 1)
        if orphan:
            os.waitpid(forked, 0)
"""


@pytest.mark.usefixtures("no_oom_kills_beside")
@pytest.mark.engine
@pytest.mark.parametrize("way", ["close", "kill", "kill while frozen", "crash", "kill of the container"])
def test_no_process_survives_its_container_also_none_that_left_its_session(start, engine, way):
    worker = start(LEAVING + "leave(); say(event='ready'); hear()")
    worker.receive(90)
    first = worker.process_id
    below = family.descendants(first)
    assert len(below) == 3
    assert len({os.getsid(process) for process in below}) == 3
    if way == "close":
        worker.close()
    elif way.startswith("kill of"):
        engine.api.kill(worker._container)
    elif way == "crash":
        os.kill(family.children(first)[0], signal.SIGKILL)
    else:
        if way == "kill while frozen":
            worker.pause()
        worker.kill()
    small_project.wait_for(lambda: all(family.state(process) is None for process in (first, *below)))
    if way not in ("close", "kill", "kill while frozen"):
        with pytest.raises(Ended, match="SIGKILL"):
            worker.receive(90)


@pytest.mark.engine
def test_a_forked_worker_in_a_container_ends_with_the_processes_that_left_its_session(start):
    worker = start(
        LEAVING + "from bench.worker import family\n"
        "family.adopt_orphans()\n"
        "reading, writing = os.pipe()\n"
        "forked = os.fork()\n"
        "if not forked:\n"
        "    os.setsid(); family.adopt_orphans(); leave(); os.write(writing, b'x'); time.sleep(1000)\n"
        "os.read(reading, 1)\n"
        "below = family.descendants(forked)\n"
        "family.end(forked); os.waitpid(forked, 0)\n"
        "say(event='is', below=len(below), left=family.lasting(os.getpid(), 60))\n"
    )
    answer = worker.receive(90)
    assert (answer["below"], answer["left"]) == (2, [])


@pytest.fixture
def attacked(engine, tmp_path):
    """A project with one locked wheel, and how to prepare its container."""
    folder = make_project(tmp_path / "attacked")
    wheel = make_wheel(tmp_path / "wheels")
    write_lock(folder, wheel, NAME)

    def prepare():
        said: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PIP_NO_INDEX", "1")
            wanted, extras = environment(NAME, BASE), Extras(None, (wheel.parent,))
            return environments.prepare(wanted, root=folder, announce=said.append, extras=extras), said

    yield folder, prepare
    forget(engine, folder)


@pytest.mark.engine
def test_another_image_under_the_right_tag_is_not_measured(attacked, engine):
    _folder, prepare = attacked
    first, _said = prepare()
    assert (first.reason, first.status) == (None, "ok")
    tag = first.manifest["image"]["tag"]
    repository, _, name = tag.partition(":")
    engine.api.tag(BASE, repository, name, force=True)
    assert image.inspect(engine, tag)["Id"] != first.manifest["image"]["id"]
    again, said = prepare()
    assert any("is not the image that was built" in text for text in said)
    assert again.manifest["packages"] == first.manifest["packages"]
    assert image.inspect(engine, tag)["Id"] == again.manifest["image"]["id"] != image.inspect(engine, BASE)["Id"]


@pytest.mark.engine
def test_an_image_keeps_its_tag_only_for_the_files_that_it_was_made_of(attacked):
    folder, prepare = attacked
    first, _said = prepare()
    lock = folder / "locks" / f"{NAME}.txt"
    lock.write_text(lock.read_text().replace("sha256:", "sha256:00", 1))
    refused, _said = prepare()
    assert (first.status, refused.status) == ("ok", "failed")
    assert "changed after it was generated" in str(refused.reason)


def leave_container(engine, folder) -> str:
    """Create a container as a killed run leaves it."""
    started_flag.put(folder)
    return isolation.create(
        engine,
        BASE,
        ["sleep", "600"],
        folder=folder,
        variables=VARIABLES,
        bounds=Bounds([]),
        checkout=labels.checkout(folder),
    )


def containers_of(engine, folder) -> list[str]:
    found = engine.api.containers(all=True, filters={"label": labels.selector(labels.CONTAINER, folder)})
    return [each["Id"] for each in found]


@pytest.mark.engine
@pytest.mark.parametrize(
    "arguments", [["report"], ["schema"], ["lock", "nothing"], ["run", "--dry-run"], ["prepare", "x"]]
)
def test_every_command_removes_what_a_killed_run_left_whatever_becomes_of_it(arguments, engine, root, capsys):
    engine.api.start(leave_container(engine, root))
    assert len(containers_of(engine, root)) == 1
    main(arguments, root=root)
    assert containers_of(engine, root) == []
    assert not started_flag.exists(root)


@pytest.mark.engine
def test_a_command_that_is_interrupted_removes_its_containers(engine, root, monkeypatch, capsys):
    def interrupted(options) -> int:
        engine.api.start(leave_container(engine, root))
        raise KeyboardInterrupt

    monkeypatch.setattr("bench.host.commands.schema.run", interrupted)
    assert main(["schema"], root=root) == 130
    assert containers_of(engine, root) == []


@pytest.mark.engine
def test_containers_of_a_run_under_way_and_of_other_projects_stay(engine, root, tmp_path, capsys):
    from bench.host.storage.run_lock import exclusive

    other = make_project(tmp_path / "other")
    leave_container(engine, other)
    leave_container(engine, root)
    with exclusive(root):
        main(["report"], root=root)
        assert len(containers_of(engine, root)) == 1
    main(["report"], root=root)
    assert containers_of(engine, root) == []
    assert len(containers_of(engine, other)) == 1
    forget(engine, other)
