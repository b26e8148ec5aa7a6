from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from wheels import PYTHON, make_script

from bench.host.environments import interpreters
from bench.host.environments.interpreters import FACTS_PROGRAM, NoInterpreter, find


@functools.cache
def truth() -> dict[str, object]:
    answer = subprocess.run([sys.executable, "-I", str(FACTS_PROGRAM)], capture_output=True, check=True)
    return dict(json.loads(answer.stdout))


def make_liar(path: Path, **claims: object) -> Path:
    """Write an interpreter that answers like this one, but for ``claims``; it names itself as what lasts."""
    answer = json.dumps({**truth(), "base": str(path), **claims})
    return make_script(path, f"echo '{answer}'")


@pytest.fixture(autouse=True)
def empty_machine(tmp_path, monkeypatch):
    """No interpreter but those that a test makes."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{tmp_path}/bin2")
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "usr" / "local"))


@pytest.fixture
def search(root, announce):
    return functools.partial(find, uv=None, root=root, announce=announce)


def test_an_interpreter_on_path_is_found_and_described(tmp_path, search):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / f"python{PYTHON}").symlink_to(sys.executable)
    found = search(PYTHON)
    assert (found.version, found.implementation) == (sys.version.split()[0], "CPython")
    assert Path(found.path).resolve() == Path(sys.executable).resolve()


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"version": "3.6.1"}, "it is Python 3.6.1, not 3.11"),
        ({"version": "3.11.4", "implementation": "PyPy"}, "it is PyPy"),
        ({"version": "3.11.4", "bits": 32}, "32-bit"),
        ({"version": "3.11.4", "debug": True}, "debug build"),
        ({"version": "3.11.4", "free_threaded": True}, "free-threaded"),
        ({"version": "3.11.4", "venv": False}, "no venv"),
    ],
)
def test_an_unsuitable_interpreter_is_refused_with_the_reason(tmp_path, search, claims, reason):
    make_liar(tmp_path / "bin" / "python3.11", **claims)
    with pytest.raises(NoInterpreter, match=reason) as error:
        search("3.11")
    assert f"{tmp_path}/bin/python3.11 (PATH)" in str(error.value)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo 'pyenv: python3.11: command not found' >&2; exit 127",
            "status 127: pyenv: python3.11: command not found",
        ),
        ("echo hello", "not that of a Python interpreter"),
        ("echo '[1]'", "not that of a Python interpreter"),
        ('echo \'{"version": "new"}\'', "not that of a Python interpreter"),
        ("exec sleep 60", "did not answer within"),
    ],
)
def test_a_shim_that_fails_is_passed_over(tmp_path, search, monkeypatch, script, reason):
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{tmp_path}/bin2:/bin")
    shim = make_script(tmp_path / "bin" / "python3.11", script)
    run = subprocess.run

    def hurried(command, **options):
        """Wait a moment for the shim that hangs, and as long as ever for the others, which a busy machine delays."""
        if command[0] == str(shim) and "sleep" in script:
            options["timeout"] = 0.1
        return run(command, **options)

    monkeypatch.setattr(interpreters.subprocess, "run", hurried)
    with pytest.raises(NoInterpreter, match=reason):
        find("3.11.99", uv=None, root=tmp_path, announce=print)
    make_liar(tmp_path / "bin2" / "python3.11", version="3.11.99")
    assert search("3.11.99").path == f"{tmp_path}/bin2/python3.11"


def test_one_with_headers_is_preferred(tmp_path, search):
    make_liar(tmp_path / "bin" / "python3.11", version="3.11.1", headers=False)
    assert search("3.11").version == "3.11.1"
    make_liar(tmp_path / "bin2" / "python3.11", version="3.11.2", headers=True)
    assert search("3.11").version == "3.11.2"


def test_names_that_cannot_be_the_version_are_not_run(tmp_path, search):
    make_script(tmp_path / "bin" / "python3.9", f"touch {tmp_path}/ran")
    make_script(tmp_path / "bin" / "python3-config", f"touch {tmp_path}/ran")
    make_liar(tmp_path / "bin" / "python3", version="3.11.4")
    assert search("3.11").path == f"{tmp_path}/bin/python3"
    assert search(">=3.10,<3.12").path == f"{tmp_path}/bin/python3"
    assert not (tmp_path / "ran").exists()


def test_pyenv_has_the_newest_patch_of_a_version_and_the_oldest_of_a_range(tmp_path, search, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    for version in ("3.7.16", "3.8.1", "3.11.2", "3.11.10", "system-packages"):
        make_liar(tmp_path / "pyenv" / "versions" / version / "bin" / "python", version=version)
    assert search("3.11").version == "3.11.10"
    assert search(">=3.7,<3.9").version == "3.7.16"
    assert search("3.11.2").version == "3.11.2"


def test_siblings_of_a_pyenv_interpreter_are_found_without_a_variable(tmp_path, search, monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "pyenv" / "versions" / "3.12.1"))
    make_liar(tmp_path / "pyenv" / "versions" / "3.11.2" / "bin" / "python", version="3.11.2")
    assert search("3.11").version == "3.11.2"


@pytest.mark.parametrize("prefix", ["/usr", "/"])
def test_a_python_of_a_distribution_is_beside_no_pyenv(tmp_path, search, monkeypatch, prefix):
    """Looking two folders above /usr ended with a traceback, where no Python with headers was on PATH."""
    monkeypatch.setattr(sys, "base_prefix", prefix)
    make_liar(tmp_path / "bin" / "python3.11", version="3.11.4", headers=False)
    assert search("3.11").version == "3.11.4"


def test_an_explicit_path_is_used_alone_and_tried(tmp_path, search):
    make_liar(tmp_path / "bin" / "python3.11", version="3.11.4")
    mine = make_liar(tmp_path / "mine", version="3.11.3")
    assert search("3.11", path=str(mine)).version == "3.11.3"
    with pytest.raises(NoInterpreter, match=r"mine' cannot be used: it is Python 3.11.3, not 3.12"):
        search("3.12", path=str(mine))
    with pytest.raises(NoInterpreter, match="does not exist"):
        search("3.11", path=str(tmp_path / "none"))


def test_what_uv_keeps_is_found_before_anything_is_downloaded(tmp_path, root, said, announce):
    kept = make_liar(tmp_path / "kept", version="3.11.4")
    uv = make_script(tmp_path / "uv", f'case "$2" in find) echo {kept};; *) exit 1;; esac')
    assert find("3.11", uv=str(uv), root=root, announce=announce).path == str(kept)
    assert said == []


def test_a_missing_interpreter_is_downloaded(tmp_path, root, said, announce):
    kept = make_liar(tmp_path / "kept", version="3.11.4")
    flag = tmp_path / "installed"
    script = f'case "$2" in find) [ -e {flag} ] && echo {kept};; install) : > {flag};; esac'
    uv = make_script(tmp_path / "uv", script)
    assert find("3.11", uv=str(uv), root=root, announce=announce).path == str(kept)
    assert "downloading" in said[0]


def test_a_download_that_fails_is_in_the_list_of_what_was_tried(tmp_path, root, announce):
    uv = make_script(tmp_path / "uv", "echo 'error: dns error' >&2; exit 2")
    with pytest.raises(NoInterpreter, match="download: error: dns error"):
        find("3.11", uv=str(uv), root=root, announce=announce)


def test_a_wrong_version_is_named():
    with pytest.raises(NoInterpreter, match="'three' is not a version"):
        interpreters.specifier("three")
