"""Environments are built here for real, by uv and by pip, from a wheel that the test makes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from importlib import metadata

import pytest
from wheels import REPOSITORY, Wanted, make_script, make_wheel, write_lock

from bench.host import environments, project
from bench.host.environments import load_outcome, locks, prepare, venv
from bench.host.setup import installer
from bench.registry import Registry

TOOLS = ("uv", pytest.param("pip", marks=pytest.mark.long))


@pytest.fixture
def tool(request, monkeypatch):
    if request.param == "pip":
        monkeypatch.setattr(venv, "find_uv", lambda root: None)
    return request.param


def value_in(prepared) -> str:
    command = [*prepared.command, "-c", "import tinyframe; print(tinyframe.value, tinyframe.__spec__.cached)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("tool", TOOLS, indirect=True)
def test_an_environment_is_built_from_its_lock_and_described(tool, locked, root, announce):
    prepared = prepare(locked, root=root, announce=announce)
    assert (prepared.status, prepared.reason) == ("ok", None)
    value, cached = value_in(prepared).split()
    assert value == "1"
    assert os.path.exists(cached)
    manifest = prepared.manifest
    assert manifest["packages"]["tinyframe"] == "1.0"
    assert manifest["installer"] == tool
    assert manifest["interpreter"]["version"] == sys.version.split()[0]
    assert manifest["lock_hash"] == locks.lock_hash(root / "locks" / "tiny.txt")
    assert manifest["bytecode"]["uncompilable"] == 1
    assert manifest["size_bytes"] > 0
    assert manifest["build_s"] > 0
    assert load_outcome("tiny", root=root) == prepared

    # Nothing in it names the folder that it was built in.
    folder = root / ".nox" / "environments" / "tiny"
    texts = [
        path.read_bytes() for path in [*(folder / "bin").iterdir(), folder / "pyvenv.cfg"] if not path.is_symlink()
    ]
    assert not [text for text in texts if b".building-" in text]


def test_a_lock_that_the_project_does_not_have_is_told_to_be_the_packages(
    locked, root, said, announce, tmp_path, monkeypatch
):
    monkeypatch.setattr(project, "data", lambda name: tmp_path / "package" / name)
    (tmp_path / "package").mkdir()
    prepare(locked, root=root, announce=announce)
    assert "from locks/tiny.txt" in " ".join(said)
    said.clear()
    (root / "locks").rename(tmp_path / "package" / "locks")
    shutil.rmtree(root / ".nox" / "environments" / "tiny")
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert "from benchmatrix's locks/tiny.txt" in " ".join(said)


def test_an_environment_that_fits_is_used_again(locked, root, said, announce):
    first = prepare(locked, root=root, announce=announce)
    said.clear()
    assert prepare(locked, root=root, announce=announce) == first
    assert said == []


def test_a_changed_lock_rebuilds(locked, root, wheels, announce):
    prepare(locked, root=root, announce=announce)
    wanted = replace(locked, requirements=("tinyframe==2.0",))
    write_lock(root, make_wheel(wheels, version="2.0", value=2), wanted)
    assert value_in(prepare(wanted, root=root, announce=announce)).startswith("2 ")


def damage_interpreter(folder):
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").symlink_to("/nowhere/python")


def damage_package(folder):
    next(folder.rglob("tinyframe/__init__.py")).unlink()


def damage_by_installing(folder):
    (next(folder.rglob("site-packages")) / "intruder.py").write_text("")


def damage_manifest(folder):
    (folder / "manifest.json").write_text('{"layout": ')


@pytest.mark.parametrize("damage", [damage_interpreter, damage_package, damage_by_installing, damage_manifest])
def test_an_environment_that_is_not_what_was_built_is_rebuilt(locked, root, announce, damage):
    prepare(locked, root=root, announce=announce)
    damage(root / ".nox" / "environments" / "tiny")
    prepared = prepare(locked, root=root, announce=announce)
    assert value_in(prepared).startswith("1 ")
    assert not list((root / ".nox" / "environments" / "tiny").rglob("intruder.py"))


def test_a_lock_that_does_not_fit_is_refused_and_nothing_is_built(locked, root, announce):
    prepared = prepare(replace(locked, requirements=("tinyframe>=3",)), root=root, announce=announce)
    assert (prepared.status, prepared.stage) == ("failed", "environment")
    assert "Run: nox -s lock -- tiny" in prepared.reason
    assert not (root / ".nox" / "environments" / "tiny").exists()


def test_a_missing_lock_is_made(root, index, said, announce):
    index(make_wheel(root))
    assert prepare(Wanted(), root=root, announce=announce).status == "ok"
    assert "does not exist yet" in said[0]


@pytest.mark.parametrize("tool", TOOLS, indirect=True)
def test_a_package_that_is_not_what_was_locked_fails(tool, locked, root, wheels, announce):
    make_wheel(wheels, value=666)
    prepared = prepare(locked, root=root, announce=announce)
    assert prepared.status == "failed"
    assert "hash" in prepared.reason.lower()


@pytest.mark.parametrize("tool", TOOLS, indirect=True)
def test_no_wheel_for_this_platform_is_unsupported(tool, root, wheels, announce):
    wanted = Wanted()
    write_lock(root, make_wheel(wheels, tag="cp311-cp311-win_amd64"), wanted)
    prepared = prepare(wanted, root=root, announce=announce)
    assert (prepared.status, prepared.stage) == ("unsupported", "environment")
    assert "not published for this platform" in prepared.reason


@pytest.mark.parametrize("tool", TOOLS, indirect=True)
def test_a_network_that_is_down_fails_with_the_reason(tool, locked, root, wheels, announce, monkeypatch):
    for path in wheels.iterdir():
        path.unlink()
    for name in ("UV_NO_INDEX", "PIP_NO_INDEX"):
        monkeypatch.delenv(name)
    for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/simple")
    prepared = prepare(locked, root=root, announce=announce)
    assert prepared.status == "failed"
    assert "index could not be reached" in prepared.reason


def test_no_interpreter_is_unsupported(locked, root, announce):
    wanted = replace(locked, interpreter="/nowhere/python")
    prepared = prepare(wanted, root=root, announce=announce)
    assert (prepared.status, prepared.command) == ("unsupported", ())
    assert "'/nowhere/python' does not exist" in prepared.reason


def test_names_of_our_own_environments_are_taken(locked, root, announce):
    prepared = prepare(replace(locked, name="host"), root=root, announce=announce)
    assert prepared.status == "failed"
    assert "choose another" in prepared.reason


def test_a_disk_that_cannot_be_written_fails_with_the_reason(locked, root, announce, monkeypatch):
    def fill(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(venv, "install_with_uv", fill)
    prepared = prepare(locked, root=root, announce=announce)
    assert prepared.status == "failed"
    assert "No space left" in prepared.reason
    assert [path.name for path in (root / ".nox" / "environments").iterdir() if path.is_dir()] == []


def test_two_builds_at_once_make_one(locked, root, announce, said, monkeypatch):
    install = venv.install_with_uv

    def slow(*arguments):
        time.sleep(0.5)
        install(*arguments)

    monkeypatch.setattr(venv, "install_with_uv", slow)
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(prepare(locked, root=root, announce=announce)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes[0] == outcomes[1]
    assert len([text for text in said if "building with" in text]) == 1


def test_a_killed_build_leaves_nothing_that_counts(locked, root, tmp_path, announce):
    uv = make_script(
        tmp_path / "uv", f'case "$1" in venv) mkdir -p "$9/bin"; : > {tmp_path}/started; exec sleep 60;; esac'
    )
    program = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from pathlib import Path; from wheels import Wanted; from bench.host.environments import prepare, venv\n"
        "venv.find_uv = lambda root: sys.argv[4]\n"
        "prepare(Wanted(), root=Path(sys.argv[3]), announce=print)\n"
    )
    paths = (str(REPOSITORY), str(REPOSITORY / "tests" / "support"), str(root), str(uv))
    with subprocess.Popen([sys.executable, "-c", program, *paths], start_new_session=True) as build:
        while not (tmp_path / "started").exists():
            assert build.poll() is None
            time.sleep(0.01)
        os.killpg(build.pid, 9)
    folder = root / ".nox" / "environments"
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [f"tiny.building-{build.pid}"]
    assert load_outcome("tiny", root=root) is None
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["tiny"]


@pytest.mark.parametrize("content", [None, "", "{}", '{"name": "tiny", "status": "ok", "command": 3}', "[1]"])
def test_an_outcome_that_cannot_be_read_is_none(root, content):
    path = environments.outcome.outcome_path("tiny", root)
    if content is not None:
        path.parent.mkdir(parents=True)
        path.write_text(content)
    assert load_outcome("tiny", root=root) is None


@pytest.fixture
def known(tmp_path):
    """Make a registry with two frameworks, which are imported under names other than their own."""
    for name, imported in (("there", "json"), ("absent", "tinyframe")):
        facts = tmp_path / "source" / "frameworks" / name / "facts.py"
        facts.parent.mkdir(parents=True)
        facts.write_text(
            "from bench.frameworks.facts import Facts, Mode\n"
            f"FACTS = Facts(product='', distribution='', import_name='{imported}', modes=(Mode('eager'),))\n"
        )
    return Registry.of({"source": str(tmp_path / "source")})


def test_an_existing_interpreter_is_asked(root, announce, monkeypatch, known):
    wanted = Wanted(provider="existing", framework="there", python=None, interpreter=sys.executable)
    monkeypatch.setenv("PYTHONPATH", "/carried")
    prepared = prepare(wanted, root=root, announce=announce, registry=known)
    assert (prepared.status, prepared.command) == ("ok", (sys.executable,))
    assert "numpy" in prepared.manifest["packages"]
    assert prepared.manifest["variables"]["PYTHONPATH"] == "/carried"


def test_an_interpreter_behind_a_script_is_started_by_the_script_and_known_by_its_own_path(
    root, announce, known, tmp_path, monkeypatch
):
    script = tmp_path / "mine"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    wanted = Wanted(provider="existing", framework="there", python=None, interpreter="./mine")
    prepared = prepare(wanted, root=root, announce=announce, registry=known)
    # Workers start in another folder.
    assert prepared.command == (str(script),)
    assert prepared.manifest["interpreter"]["executable"] == sys.executable


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"interpreter": None}, "--interpreter there=PATH"),
        ({"interpreter": "/nowhere/python"}, "does not exist"),
        ({"interpreter": "/bin/false"}, "ended with status 1"),
        ({"framework": "absent"}, f"(Python {sys.version.split()[0]}) has no tinyframe"),
    ],
)
def test_an_existing_interpreter_that_will_not_do_is_unsupported(root, announce, known, changes, reason):
    wanted = replace(Wanted(name="there", provider="existing", framework="there", python=None), **changes)
    prepared = prepare(wanted, root=root, announce=announce, registry=known)
    assert (prepared.status, prepared.stage) == ("unsupported", "environment")
    assert reason in prepared.reason


def test_caches_stay_on_one_file_system_with_what_links_to_them(tmp_path, monkeypatch):
    place = tmp_path / ".nox" / "environments" / "tiny"
    monkeypatch.delenv("UV_CACHE_DIR")
    assert "UV_CACHE_DIR" not in installer.installer_environ(place)
    monkeypatch.setattr(installer, "same_file_system", lambda one, other: False)
    assert installer.installer_environ(place)["UV_CACHE_DIR"] == str(tmp_path / ".nox" / "cache" / "uv")


def test_settings_for_pip_hold_for_uv_and_what_would_lead_astray_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://mirror/")
    monkeypatch.setenv("PIP_CERT", "/cert")
    monkeypatch.setenv("SSL_CERT_FILE", "/mine")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    environ = installer.installer_environ(tmp_path)
    assert (environ["UV_DEFAULT_INDEX"], environ["SSL_CERT_FILE"]) == ("http://mirror/", "/mine")
    assert "PIP_TARGET" not in environ
    assert "PYTHONDONTWRITEBYTECODE" not in environ


def test_the_oldest_python_can_have_an_environment(oldest, locked, root, announce):
    python = "{}.{}".format(*sys.version_info) if oldest == sys.executable else locks.own(REPOSITORY)["worker"][0]
    wanted = replace(locked, python=python, interpreter=oldest)
    write_lock(root, root.parent / "wheels" / "tinyframe-1.0-py3-none-any.whl", wanted)
    prepared = prepare(wanted, root=root, announce=announce)
    assert (prepared.reason, prepared.status) == (None, "ok")
    assert prepared.manifest["packages"] == {"tinyframe": "1.0"}


def test_what_the_interpreter_lists_is_what_the_library_finds():
    answer = subprocess.run(
        [sys.executable, "-I", environments.interpreters.FACTS_PROGRAM, "--packages"], capture_output=True
    )
    found = {each.metadata["Name"]: each.version for each in metadata.distributions()}
    assert json.loads(answer.stdout)["packages"].items() <= found.items()
    assert len(json.loads(answer.stdout)["packages"]) > 20


def test_an_environment_that_does_not_run_failed(locked, root, announce, monkeypatch):
    def refuse(path, *arguments, **options):
        raise environments.interpreters.Rejected("it crashed")

    monkeypatch.setattr(venv, "ask", refuse)
    prepared = prepare(locked, root=root, announce=announce)
    assert prepared.status == "failed"
    assert "was built and does not run: it crashed" in prepared.reason


def test_interpreter_facts_run_on_the_oldest_python(oldest):
    answer = subprocess.run(
        [oldest, "-I", environments.interpreters.FACTS_PROGRAM, "--packages", "json", "nothing"], capture_output=True
    )
    assert json.loads(answer.stdout)["missing"] == ["nothing"]
