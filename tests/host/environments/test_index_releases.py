"""Tests that the releases of a range are looked up: the newest of each minor version that can be installed."""

from __future__ import annotations

import sys

import pytest
from study_tables import toml
from wheels import PYTHON, make_wheel

from bench.host.__main__ import main
from bench.host.environments import index_releases
from bench.host.environments.source_builds import LockError
from bench.host.study import version_ranges
from bench.registry import BUILT_IN

TABLE = {
    "framework": "numpy",
    "python": PYTHON,
    "versions": ">=1.1,<4",
    "requirements": ["tinyframe=={version}"],
    "modes": ["eager"],
}
OTHER = "cp27-cp27m-manylinux1_x86_64"


def make_releases(folder):
    """Make the wheels of releases; one minor version has none for any Python 3, one is a candidate only."""
    # The newest patch of 3.1 cannot be installed here; the one before can.
    others = [make_wheel(folder, version=version, tag=OTHER) for version in ("2.5.0", "3.1.5")]
    versions = ("1.0.9", "1.1.0", "1.1.10", "1.1.9", "2.0", "3.1.4", "3.2.0rc1", "4.0")
    return [*others, *(make_wheel(folder, version=version) for version in versions)]


@pytest.fixture
def published(wheels):
    return make_releases(wheels)


def look_up(root, announce, **changes):
    return index_releases.releases("tiny", {**TABLE, **changes}, BUILT_IN, root=root, announce=announce)


def test_the_newest_release_of_each_minor_version_is_found(published, root, announce):
    assert look_up(root, announce) == ["1.1.10", "2.0", "3.1.4"]
    assert look_up(root, announce, versions=">=2.0,!=3.1.4") == ["2.0", "4.0"]
    assert look_up(root, announce, versions="<1.1") == ["1.0.9"]


def test_a_package_that_runs_only_with_another_python_is_found_with_it(published, wheels, root, announce):
    """Without a Python in the table, all that some release of the framework supports are tried."""
    table = {**TABLE, "framework": "jax", "versions": "<2"}
    del table["python"]
    tag = "cp39-cp39-" + ("manylinux2014_x86_64" if sys.platform == "linux" else "macosx_11_0_arm64")
    make_wheel(wheels, version="1.3.0", tag=tag)
    make_wheel(wheels, version="1.1.99", tag=tag)
    found = index_releases.releases("tiny", table, BUILT_IN, root=root, announce=announce)
    assert found == ["1.0.9", "1.1.99", "1.3.0"]


def test_a_range_without_releases_is_refused(published, root, announce):
    with pytest.raises(LockError, match=r"no release of tinyframe in '>=9' has a wheel for this platform and Python 3"):
        look_up(root, announce, versions=">=9")


def test_an_index_that_cannot_be_reached_is_not_an_empty_one(root, announce, monkeypatch):
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:1/")
    with pytest.raises(LockError, match="the releases of tinyframe cannot be looked up: uv ended with status"):
        look_up(root, announce)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"framework": "numpyy"}, "unknown framework 'numpyy'; did you mean 'numpy'"),
        ({"python": None}, "which Python the versions of NumPy support is not known"),
    ],
)
def test_what_cannot_be_looked_up_is_refused_with_a_remedy(root, announce, changes, message):
    with pytest.raises(LockError, match=message):
        look_up(root, announce, **changes)


STUDY = {
    "study": {"name": "r", "baseline": "tiny-2.0:eager", "default": ["tiny"], "profile": "brief"},
    "environments": {"tiny": TABLE},
    "workloads": {"gemm": {}},
    "profiles": {"brief": {"rounds": 1, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}},
    "indexes": {},
    "exclusions": [],
}


def test_the_command_writes_the_list_and_a_lock_for_each_release(index, tmp_path, root, capsys, monkeypatch):
    (root / "matrix.toml").write_text(toml(STUDY))
    assert main(["run", "--dry-run"], root=root) == 2
    assert "Run: nox -s lock -- tiny" in capsys.readouterr().err
    releases = make_releases(tmp_path)
    index(*releases)
    assert main(["lock", "tiny"], root=root) == 0
    listed = version_ranges.list_path("tiny", root)
    assert listed.read_text().splitlines()[2:] == [f"# fits: >=1.1,<4, Python {PYTHON}", "1.1.10", "2.0", "3.1.4"]
    locked = {path.name for path in (root / "locks").glob("tiny-*.txt")}
    assert locked == {"tiny-1.1.10.txt", "tiny-2.0.txt", "tiny-3.1.4.txt"}
    assert main(["run", "--dry-run"], root=root) == 0
    # One lock is renewed without looking for newer releases, all of them with them.
    index(*releases, make_wheel(tmp_path, version="3.3.0"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    assert main(["lock", "tiny-2.0"], root=root) == 0
    assert "3.3.0" not in listed.read_text()
    assert main(["lock"], root=root) == 0
    assert "3.3.0" in listed.read_text()
