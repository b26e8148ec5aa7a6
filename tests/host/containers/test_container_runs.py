"""Tests whole runs with containers: real cells in containers and venvs, a killed host, and no engine."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from container_project import BASE, REPOSITORY, make_project
from small_project import text_of

from bench.host import __main__ as host
from bench.host import environments
from bench.host.containers import image as images
from bench.host.containers.labels import CONTAINER, selector
from bench.host.environments import outcome
from bench.host.project import STATE
from bench.host.study import study_file

STUDY = """
[study]
name = "runs"
baseline = "jax:jit"
default = ["jax", "jax-container"]
profile = "{profile}"
threads = 1
[environments.jax]
framework = "jax"
python = "3.11"
requirements = ["jax==0.10.2", "optax==0.2.8"]
modes = ["jit"]
[environments.jax-container]
provider = "container"
framework = "jax"
lock = "jax"
base = "{base}"
modes = ["jit"]
[workloads.gemm]
[workloads.mlp-train]
[profiles.check]
rounds = 1
samples = 2
sample_seconds = 0.001
sizes = ["check"]
[profiles.long]
rounds = 1
samples = 150
sample_seconds = 0.001
sizes = ["check"]
"""


@pytest.fixture(scope="module")
def project(engine):
    """A project that is kept between sessions, as building its image takes a minute; one session has it at a time."""
    folder = make_project(REPOSITORY / STATE / "tests" / "container-runs")
    with (folder / "session.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def write_study(folder, profile: str = "check"):
    path = folder / "study.toml"
    path.write_text(STUDY.format(base=BASE, profile=profile))
    return path


def command(project, study, what: str, *arguments: str) -> list[str]:
    given = [what, *arguments, "--matrix", str(study)]
    code = (
        "import sys; from pathlib import Path; from bench.host.__main__ import main; "
        "sys.exit(main(sys.argv[2:], root=Path(sys.argv[1])))"
    )
    return [sys.executable, "-c", code, str(project), *given]


def records(project):
    lines = (project / "reports" / "runs" / "records.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def image(project, engine, tmp_path_factory):
    """Build the framework's image from its real lock; return the manifest."""
    study = write_study(tmp_path_factory.mktemp("study"))
    for name in ("jax", "jax-container"):
        subprocess.run(command(project, study, "prepare", name), check=True, cwd=REPOSITORY)
    prepared = json.loads((project / ".nox" / "environments" / "jax-container.outcome.json").read_text())
    assert (prepared["reason"], prepared["status"]) == (None, "ok")
    for earlier in images.images(engine, project):
        if earlier["Id"] != prepared["manifest"]["image"]["id"]:
            images.remove(engine, earlier)
    return prepared["manifest"]


@pytest.mark.engine
@pytest.mark.real
def test_a_container_has_the_packages_of_the_venv_whose_lock_it_shares(project, image):
    venv = json.loads((project / ".nox" / "environments" / "jax" / "manifest.json").read_text())
    assert image["packages"] == venv["packages"]
    assert image["lock_hash"] == venv["lock_hash"]


@pytest.mark.long
@pytest.mark.engine
@pytest.mark.real
def test_real_cells_run_in_containers_as_in_venvs(project, image, engine, tmp_path):
    run = command(project, write_study(tmp_path), "run", "--fresh")
    subprocess.run(run, check=True, cwd=REPOSITORY)
    made = records(project)
    assert {(r["cell"]["environment"], r["cell"]["workload"]) for r in made} == {
        (environment, workload) for environment in ("jax", "jax-container") for workload in ("gemm", "mlp-train")
    }
    assert {(r["status"], r["reason"]) for r in made} == {("ok", None)}
    for record in made:
        inside = record["cell"]["environment"] == "jax-container"
        assert record["versions"].get("image") == (image["image"]["id"] if inside else None)
        # On a busy machine a third turn repeats a disturbed one.
        assert record["sample_turn"][:2] == [0, 1]
        assert len(record["sample_ns"]) == len(record["sample_turn"]) <= 3
    described = json.loads((project / "reports" / "runs" / "environments.json").read_text())
    assert described["jax-container"]["image"]["id"] == image["image"]["id"]
    assert engine.api.containers(all=True, filters={"label": selector(CONTAINER, project)}) == []


@pytest.mark.long
@pytest.mark.engine
@pytest.mark.real
def test_the_next_run_continues_a_killed_one_and_removes_its_containers(project, image, engine, tmp_path):
    study = write_study(tmp_path, "long")
    run = command(project, study, "run", "--environment", "jax-container", "--workload", "gemm")
    process = subprocess.Popen(run, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    unfinished = project / "reports" / "runs" / "unfinished.jsonl"
    try:
        deadline = time.monotonic() + 120
        while text_of(unfinished).count("\n") <= 5:
            assert process.poll() is None, "the run ended before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command(project, study, "prepare", "jax"), check=True, cwd=REPOSITORY)
    assert engine.api.containers(all=True, filters={"label": selector(CONTAINER, project)}) == []
    output = subprocess.run(run, check=True, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True).stdout
    assert "Continuing the run" in output
    assert {record["status"] for record in records(project)} == {"ok"}
    assert sorted({turn for record in records(project) for turn in record["sample_turn"]})[:150] == list(range(150))
    assert engine.api.containers(all=True, filters={"label": selector(CONTAINER, project)}) == []


@pytest.fixture
def without_engine(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nowhere.sock")
    project = make_project(tmp_path / "project")
    return project, write_study(tmp_path)


@pytest.mark.parametrize("command", [["prepare"], ["run", "--environment"]])
def test_containers_only_are_refused_in_one_message_without_an_engine(without_engine, capsys, command):
    project, study = without_engine
    given = ["--matrix", str(study)]
    assert host.main([*command, "jax-container", *given], root=project) == host.EXIT_MISUSE
    captured = capsys.readouterr()
    assert (captured.out + captured.err).count("no container engine answers") == 1
    assert host.main(["images", "list", *given], root=project) == host.EXIT_MISUSE


def test_without_an_engine_a_container_among_others_is_unsupported(without_engine):
    project, study = without_engine
    wanted = study_file.load(study).environments["jax-container"]
    prepared = environments.prepare(wanted, root=project, announce=print)
    assert (prepared.status, prepared.stage) == ("unsupported", "environment")
    assert environments.without_engine([prepared, outcome.ready("jax", ("python",), {"provider": "venv"})]) is None
    assert environments.without_engine([prepared]) == prepared.reason
    assert environments.without_engine([]) is None
