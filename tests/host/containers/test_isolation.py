"""Tests from inside a container that it is isolated: no network, no privileges, read-only files, limits."""

from __future__ import annotations

import os

import pytest

from bench.host.containers.isolation import MOST_PROCESSES

pytestmark = pytest.mark.engine

INSIDE = """
import socket
def attempt(action):
    try:
        return str(action())
    except OSError as error:
        return type(error).__name__ + ": " + str(error)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
def program():
    path = "/tmp/program"
    open(path, "w").write("#!/bin/sh\\necho ran\\n"); os.chmod(path, 0o755)
    return subprocess.run([path], stdout=subprocess.PIPE).stdout.decode().strip()
"""


@pytest.fixture
def inside(start):
    """Evaluate an expression in a container."""

    def evaluate(expression: str, **options):
        worker = start(f"{INSIDE}\nsay(event='is', value={expression})", **options)
        return worker.receive(30)["value"]

    return evaluate


def test_no_network_can_be_reached(inside):
    interfaces, reached = inside(
        "(sorted(os.listdir('/sys/class/net')), attempt(lambda: socket.create_connection(('1.1.1.1', 53), 3)))"
    )
    assert set(interfaces) <= {"lo", "sit0", "tunl0", "ip6tnl0"}
    assert "unreachable" in reached


def test_the_root_file_system_and_the_code_are_read_only(inside, root):
    places = ["/", "/etc", "/opt", "/usr/bin", str(root), str(root / "bench")]
    results, flags = inside(
        f"[[attempt(lambda: open(place + '/x', 'w')) for place in {places}],"
        " [line.split()[1:4:2] + line.split()[3:4] for line in open('/proc/mounts')]]"
    )
    for place, result in zip(places, results, strict=True):
        assert "Read-only file system" in result or "Permission denied" in result, place
    options = {mount: flags for mount, flags, _ in flags}
    assert options["/"].split(",")[0] == "ro"
    assert options[str(root / "bench")].split(",")[0] == "ro"


def test_the_user_is_ordinary_and_has_no_capability(inside):
    names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")
    identity, *capabilities, privileges = inside(
        f"[[os.getuid(), os.getgid()]] + [status[name].strip() for name in {names}]"
    )
    assert 0 not in identity
    assert {int(each, 16) for each in capabilities} == {0}
    assert privileges == "1"


def test_system_calls_are_filtered(inside):
    assert inside("status['Seccomp'].strip()") == "2"


def test_processes_and_processors_are_limited(inside, engine):
    if "processes" in engine.limits:
        found = inside(
            "[open(p).read().strip() for p in ('/sys/fs/cgroup/pids/pids.max', '/sys/fs/cgroup/pids.max')"
            " if os.path.exists(p)]"
        )
        assert found == [str(MOST_PROCESSES)]
    assert inside("sorted(os.sched_getaffinity(0))") == sorted(os.sched_getaffinity(0))


def test_no_quota_throttles(inside):
    quota = inside(
        "[open(p).read().split()[0] for p in ('/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '/sys/fs/cgroup/cpu.max')"
        " if os.path.exists(p)]"
    )
    assert set(quota) <= {"-1", "max"}


def test_compiled_files_in_the_scratch_folder_can_be_run(inside):
    assert inside("[attempt(program), os.environ['HOME'], os.environ['USER']]") == ["ran", "/tmp", "benchmatrix"]


def test_the_cache_of_compiled_code_can_be_written_and_lasts(inside, engine, tmp_path):
    # Podman splits Docker's mounts at colons.
    odd = "caches with a space, and: a colon" if engine.product == "docker" else "caches with a space"
    folder = tmp_path / odd / "inductor"
    assert inside(f"open({str(folder / 'kernel')!r}, 'w').write('x')", write=(folder,)) == 1
    assert (folder / "kernel").read_text() == "x"
    assert (folder / "kernel").stat().st_uid != 0


def test_the_host_s_variables_stay_outside(inside, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert "OPENBLAS_CORETYPE" not in inside("sorted(os.environ)")
