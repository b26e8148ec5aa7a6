"""Tests how the tests are divided among processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import division
import pytest

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = """
[tool.pytest.ini_options]
markers = ["alone", "real", "engine", "browser"]
testpaths = ["."]
"""
NOTES = """
import json, os, time
import pytest

@pytest.fixture(autouse=True)
def noted(request):
    start = time.monotonic()
    yield
    time.sleep(0.05)
    with open("notes", "a") as file:
        note = [request.node.name, os.environ.get("PYTEST_XDIST_WORKER"), start, time.monotonic()]
        file.write(json.dumps(note) + "\\n")
"""
WATCHES = """
import pytest

@pytest.mark.alone
@pytest.mark.parametrize("number", range(2))
def test_watches(number): pass
"""
PARTS = """
import pytest

parts = [pytest.param(part, marks=pytest.mark.xdist_group("part" + part)) for part in "aabb"]

@pytest.mark.parametrize("part", parts)
def test_part(part): pass
"""
OTHERS = """
import pytest

@pytest.mark.parametrize("number", range(COUNT))
def test_other(number): pass
"""


def run(folder: Path, *options: str) -> list[list]:
    """Run the tests of two files in ``folder``; return name, process, start and end of each, in the order of ends."""
    for name, text in {
        "pyproject.toml": SETTINGS,
        "conftest.py": NOTES,
        "test_first.py": WATCHES + OTHERS.replace("COUNT", "6"),
        "test_parts.py": PARTS,
        "test_second.py": OTHERS.replace("COUNT", "12"),
    }.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "division", "-p", "no:cacheprovider", *options]
    path = [("PYTHONPATH", str(ROOT / "tests" / "support")), ("PATH", "/usr/bin:/bin")]
    done = subprocess.run(command, cwd=folder, env=dict(path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in (folder / "notes").read_text().splitlines()]


def test_what_watches_a_clock_runs_while_nothing_else_does(tmp_path: Path) -> None:
    notes = run(tmp_path, "-n", "2")
    assert len(notes) == 24
    assert len({process for _, process, *_ in notes}) == 2
    for name, process, start, end in notes:
        if name.startswith("test_watches"):
            beside = [note for note in notes if note[1] != process and note[2] < end and start < note[3]]
            assert beside == []


@pytest.mark.parametrize(("asked", "processes"), [("", 3), ("2", 2)])
def test_there_is_a_process_more_than_processors_unless_a_number_is_asked_for(monkeypatch, asked, processes):
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", asked)
    hook = division.pytest_xdist_auto_num_workers()
    next(hook)
    with pytest.raises(StopIteration) as found:
        hook.send(2)
    assert found.value.value == processes


def test_the_groups_of_a_file_run_side_by_side_and_each_in_one_process(tmp_path: Path) -> None:
    notes = run(tmp_path, "-n", "2", "test_parts.py")
    parts = {name[-3]: set() for name, *_ in notes}
    for name, process, *_ in notes:
        parts[name[-3]].add(process)
    assert sorted(map(len, parts.values())) == [1, 1]
    assert len(set.union(*parts.values())) == 2


def test_each_process_begins_to_collect_with_other_files(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / f"test_{name}.py").touch()
    begun = []
    for number in range(2):
        process = {"workerid": f"gw{number}", "workercount": 2}
        source = pytest.Config.ArgsSource.TESTPATHS
        config = SimpleNamespace(workerinput=process, args_source=source, args=[str(tmp_path)])
        division.pytest_configure(config)
        begun.append("".join(Path(name).stem[-1] for name in config.args))
    assert begun == ["abcd", "cdab"]


def test_without_processes_it_comes_last(tmp_path: Path) -> None:
    names = [name for name, *_ in run(tmp_path, "-n", "0")]
    assert [name.startswith("test_watches") for name in names] == [False] * 22 + [True] * 2


def test_the_slowest_files_are_there_and_so_are_the_parts_and_environments_of_the_slowest_groups() -> None:
    files = [name for name in division.SLOWEST if name.endswith(".py")]
    assert [name for name in files if not (ROOT / name).is_file()] == []
    parts = (ROOT / "tests/real/test_default_study.py").read_text(encoding="utf-8")
    study = tomllib.loads((ROOT / "matrix.toml").read_text(encoding="utf-8"))["environments"]
    for name in set(division.SLOWEST) - set(files):
        kind, _, rest = name.partition("-")
        if kind == "study":
            assert f'"{rest}": select(' in parts
        else:
            named = [each for each in study if rest == each or rest.startswith(f"{each}-")]
            assert kind == "adapters"
            mode = rest.removeprefix(max(named, key=len)).removeprefix("-")
            assert not mode or mode in study[max(named, key=len)]["modes"]
