"""Tests the comparison of an environment's files with the lists of its wheels."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from bench.host.environments.wheel_records import differences

SITE = "lib/python3.11/site-packages"


def digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


@pytest.fixture
def environment(tmp_path) -> Path:
    """Make an environment with a package that has vendored another one, whose list names a file that was left out."""
    vendored = "outer/_vendor/inner-1.0.dist-info/RECORD"
    files = {
        "outer/__init__.py": b"value = 1\n",
        "outer/_vendor/inner.py": b"value = 2\n",
        vendored: b"bin/inner,sha256=x,3\n../../bin/other,sha256=x,3\ninner.py,,\n",
    }
    for name, content in files.items():
        path = tmp_path / SITE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    record = tmp_path / SITE / "outer-2.0.dist-info" / "RECORD"
    record.parent.mkdir()
    lines = [f"{name},{digest(content)},{len(content)}" for name, content in files.items()]
    record.write_text("\n".join([*lines, "outer-2.0.dist-info/RECORD,,"]) + "\n")
    return tmp_path


def found(folder: Path) -> list[str]:
    hashes = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return [difference.file for difference in differences(folder, hashes)]


def test_the_list_of_a_vendored_package_demands_nothing(environment):
    assert found(environment) == []


def test_the_list_of_a_vendored_package_is_itself_checked(environment):
    (environment / SITE / "outer/_vendor/inner-1.0.dist-info/RECORD").write_text("inner.py,,\n")
    assert found(environment) == [f"{SITE}/outer/_vendor/inner-1.0.dist-info/RECORD"]


def test_a_vendored_list_covers_no_file_that_was_added(environment):
    record = environment / SITE / "outer/_vendor/inner-1.0.dist-info/RECORD"
    (environment / SITE / "outer/_vendor/added.py").write_text("value = 3\n")
    record.write_bytes(record.read_bytes() + b"added.py,,\n")
    assert f"{SITE}/outer/_vendor/added.py" in found(environment)


def test_a_hash_without_its_algorithm_is_compared_as_sha256(environment):
    record = environment / SITE / "outer-2.0.dist-info/RECORD"
    record.write_text(record.read_text().replace("sha256=", ""))
    assert found(environment) == []
    (environment / SITE / "outer/__init__.py").write_text("value = 4\n")
    assert found(environment) == [f"{SITE}/outer/__init__.py"]
