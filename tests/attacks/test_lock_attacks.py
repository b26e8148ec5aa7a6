"""Attacks on locking and installing: no code of a package runs unless the study allows it."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from build_fixtures import *  # noqa: F403
from wheels import PYTHON, Wanted, make_wheel

from bench.host.environments import locks, prepare, source_builds, venv
from bench.host.environments.locks import LockRequest
from bench.host.environments.source_builds import LockError
from bench.host.study import study_file
from bench.host.study.location import StudyError

pytestmark = pytest.mark.long

BACKEND = """
import pathlib, shutil, sys
pathlib.Path({mark!r}).write_text(sys.prefix)

def build_wheel(folder, settings=None, metadata=None):
    return pathlib.Path(shutil.copy({wheel!r}, folder)).name
"""


@pytest.fixture
def mark(tmp_path) -> Path:
    """The file that exists as soon as code of the package ran."""
    return tmp_path / "code-ran"


@pytest.fixture
def sdist(tmp_path, mark) -> Path:
    """A source distribution of tinyframe 1.0 whose build leaves a mark."""
    (tmp_path / "made").mkdir()
    files = {
        "PKG-INFO": "Metadata-Version: 2.1\nName: tinyframe\nVersion: 1.0\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND.format(mark=str(mark), wheel=str(make_wheel(tmp_path / "made", value=7))),
        "setup.py": f"open({str(mark)!r}, 'w').write('setup.py')\n",
    }
    path = tmp_path / "tinyframe-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"tinyframe-1.0/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    return path


def requirements_that_run_code(sdist: Path) -> dict[str, str]:
    folder = sdist.parent / "source" / "tinyframe-1.0"
    return {
        "archive": f"tinyframe @ file://{sdist}",
        "folder": f"tinyframe @ file://{folder}",
        "repository": f"tinyframe @ git+file://{folder}",
        "remote": "tinyframe @ git+https://127.0.0.1:9/tinyframe.git",
        "ssh": "tinyframe @ git+ssh://git@127.0.0.1/tinyframe.git",
        "https": "tinyframe @ https://127.0.0.1:9/tinyframe-1.0.tar.gz",
        "extra": f"tinyframe[all] @ file://{folder} ; python_version > '3'",
        "editable": f"-e {folder}",
        "file": f"-r {folder}/requirements.txt",
        "index": "--index-url http://127.0.0.1:9/simple",
        "path": str(folder),
        "relative": "./tinyframe",
        "two lines": f"tinyframe\n-e {folder}",
        "option": f"tinyframe --find-links={folder}",
    }


@pytest.mark.parametrize("way", requirements_that_run_code(Path("/x/y")))
def test_a_requirement_that_would_run_code_is_refused_before_anything_runs(
    way, sdist, mark, root, announce, said, monkeypatch
):
    requirement = requirements_that_run_code(sdist)[way]
    monkeypatch.setattr(locks, "find_uv", lambda root: pytest.fail("something was run"))
    with pytest.raises(LockError, match="cannot be made") as refused:
        locks.lock(LockRequest("tiny", PYTHON, (requirement,)), root=root, announce=announce)
    assert repr(requirement) in str(refused.value)
    assert (mark.exists(), said) == (False, [])
    assert prepare(Wanted(requirements=(requirement,)), root=root, announce=announce).status == "failed"
    assert not mark.exists()


def test_a_source_distribution_is_not_asked_for_its_requirements(sdist, mark, root, index, announce):
    index(sdist)
    with pytest.raises(LockError, match="building from source is disabled"):
        locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce)
    assert not mark.exists()


def test_a_source_distribution_beside_an_older_wheel_is_passed_over(sdist, mark, root, index, announce):
    index(sdist, make_wheel(root, version="0.9"))
    text = locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce).read_text()
    assert ("tinyframe==0.9" in text, mark.exists()) == (True, False)


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_lock_that_lists_a_source_distribution_builds_nothing(tool, sdist, mark, root, index, announce, monkeypatch):
    if tool == "pip":
        monkeypatch.setattr(venv, "find_uv", lambda root: None)
    index(sdist)
    content = f"tinyframe==1.0 \\\n    --hash=sha256:{hashlib.sha256(sdist.read_bytes()).hexdigest()}"
    locks.write(LockRequest("tiny", PYTHON, ("tinyframe==1.0",)), content, root=root)
    prepared = prepare(Wanted(), root=root, announce=announce)
    assert prepared.status in ("failed", "unsupported")
    assert not mark.exists()


@pytest.fixture
def allowed(sdist, root, index, wheels) -> Wanted:
    """An environment that may build tinyframe, with build requirements that nothing but wheels fulfils."""
    index(sdist)
    return Wanted(requirements=("tinyframe==1.0",), allow_source=True, build_requirements=("tinytool==1.0",))


@pytest.fixture
def tool_in_index(tmp_path, index, wheels) -> None:
    """Serve the build tool, a wheel, from the same index."""
    wheel = make_wheel(tmp_path, name="tinytool")
    pages = tmp_path / "index" / "tinytool"
    pages.mkdir()
    shutil.copy(wheel, pages)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (pages / "index.html").write_text(
        f'<!DOCTYPE html><html><body><a href="{wheel.name}#sha256={digest}">x</a></body></html>'
    )


def test_what_the_study_allows_is_built_with_locked_requirements_alone(allowed, tool_in_index, mark, root, announce):
    prepared = prepare(allowed, root=root, announce=announce)
    assert (prepared.reason, prepared.status) == (None, "ok")
    assert "tinytool==1.0" in (root / "locks" / "tiny.build.txt").read_text()
    # It was built inside the environment, where nothing but the build requirements was, and they are gone.
    assert "environments/tiny" in mark.read_text()
    assert prepared.manifest["packages"] == {"tinyframe": "1.0"}
    assert prepared.manifest["built_from_source"] is True
    command = [*prepared.command, "-c", "import tinyframe; print(tinyframe.value)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "7\n"


def test_a_lock_with_sources_does_not_fit_a_table_without_them(allowed, tool_in_index, root, announce):
    prepare(allowed, root=root, announce=announce)
    prepared = prepare(replace(allowed, allow_source=False), root=root, announce=announce)
    assert prepared.status == "failed"
    assert "other requirements" in str(prepared.reason)


def test_build_requirements_are_wheels(allowed, sdist, mark, root, announce):
    with pytest.raises(LockError, match="building from source is disabled"):
        locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",), build=("tinyframe",)), root=root, announce=announce)
    assert not mark.exists()


def test_a_repository_has_no_hash_and_is_refused_even_where_sources_are_allowed(root, announce):
    with pytest.raises(LockError, match="no hash"):
        source_builds.check("tiny", ("x @ git+https://example.org/x.git",), allowed=True)


@pytest.mark.parametrize("line", ["-e .", "--index-url http://127.0.0.1:9/", "tinyframe @ file:///nowhere.tar.gz"])
def test_a_line_that_no_lock_has_is_refused_even_with_a_right_checksum(line, root, announce):
    locks.write(LockRequest("tiny", PYTHON, ("tinyframe==1.0",)), line, root=root)
    prepared = prepare(Wanted(), root=root, announce=announce)
    assert prepared.status == "failed"
    assert "locks/tiny.txt" in str(prepared.reason)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('requirements = ["x @ file:///x.tar.gz"]', "is an address; require it by version"),
        ('requirements = ["x==1"]\nbuild_requirements = ["y"]', "only wheels are installed"),
        ('requirements = ["x==1"]\nallow_source = true\nprovider = "container"', "installs wheels only"),
    ],
)
def test_a_study_file_says_what_is_built_from_source(table, said, tmp_path):
    path = tmp_path / "matrix.toml"
    path.write_text(
        '[study]\nname = "s"\nbaseline = "a:eager"\ndefault = ["a"]\nprofile = "p"\n'
        f'[environments.a]\nframework = "numpy"\npython = "3.11"\nmodes = ["eager"]\n{table}\n'
        '[workloads.gemm]\n[profiles.p]\nrounds = 1\nsamples = 1\nsample_seconds = 1.0\nsizes = ["check"]\n'
    )
    with pytest.raises(StudyError, match=said):
        study_file.load(path)
