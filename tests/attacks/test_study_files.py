"""Attacks through a study file: whatever it holds, it is read in time, and what is wrong with it can be read."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nox_project import calls, project, run
from study_tables import TABLES, toml

from bench.host import refusal
from bench.host.__main__ import main
from bench.host.study import location, session_names, study_file, toml_limits
from bench.host.study.location import MOST_ERRORS, StudyError

pytestmark = pytest.mark.long

__all__ = ["project"]

ROOT = Path(__file__).resolve().parents[2]
FUZZED, PARTS = 1000, 10
#: Seconds of the processor that reading may take: the clock also counts the time of other programs.
HANG_S = 5.0
PLAIN = toml(TABLES)
JUNK = (
    "[" * 3000, "]", "{a=" * 2000, '"', "'", '"""', "\n", "\0", "\x1b[2J", "\u202e", "\ud7ff", "=", ".",
    "a.a.a.a = 1\n", "nan", "inf", "-1", "0x" + "f" * 9000, "9" * 6000, "1e999", "1979-05-27", "[[study]]\n",
    "[study]\n", "[a]\n" * 1500, "x" * 20_000, "true", "[]", "{}", '["a", "a"]', "*" * 500,
    "torch==" + "1." * 400, "../../../etc", "~/$HOME/",
)  # fmt: skip


def bent(source: random.Random) -> bytes:
    """Damage the example of a study file in one to four places."""
    text = PLAIN
    for _ in range(source.randrange(1, 5)):
        at = source.randrange(len(text) + 1)
        match source.randrange(5):
            case 0:
                text = text[:at] + source.choice(JUNK) + text[at:]
            case 1:
                text = text[:at] + text[at + source.randrange(60) :]
            case 2:
                lines = text.splitlines(keepends=True) or [""]
                number = source.randrange(len(lines))
                key, separator, _value = lines[number].partition(" = ")
                lines[number] = f"{key}{separator}{source.choice(JUNK)}\n"
                text = "".join(lines)
            case 3:
                lines = text.splitlines(keepends=True) or [""]
                number = source.randrange(len(lines))
                text = "".join(
                    [*lines[:number], *lines[number : number + 1] * source.choice((0, 2, 900)), *lines[number + 1 :]]
                )
            case _:
                value = json.dumps(source.choice(JUNK))
                text = (
                    text[:at]
                    + f"\n{source.choice(('x', 'modes', 'name', 'data', 'sizes', 'reason'))} = {value}\n"
                    + text[at:]
                )
    content = text.encode("utf-8", "surrogatepass")
    if source.random() < 0.1:
        at = source.randrange(len(content) + 1)
        content = content[:at] + bytes([source.randrange(256)]) * source.choice((1, 100)) + content[at:]
    return content


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_study_file_is_a_study_or_refused_in_time_with_its_place(tmp_path, part):
    source = random.Random(part)
    path = tmp_path / "matrix.toml"
    for _ in range(FUZZED // PARTS):
        path.write_bytes(bent(source))
        began = time.process_time()
        problem = problem_of(path)
        assert time.process_time() - began < HANG_S
        if problem is not None:
            assert_readable(problem)
            assert "matrix.toml: " in problem


def problem_of(path: Path) -> str | None:
    try:
        study_file.load(path)
    except StudyError as error:
        return str(error)
    return None


def assert_readable(text: str) -> None:
    assert len(text) < 25_000
    assert len(text.splitlines()) <= MOST_ERRORS + 1
    assert text == refusal.harmless(text)


@pytest.mark.parametrize(
    "content",
    [
        "x = " + "[" * 100_000,
        "x = " + "{a = " * 40_000,
        "x = " + "[" * 60 + "]" * 60,
        ".".join(["a"] * 100_000) + " = 1",
        ".".join(['"a"'] * 50_000) + " = 1",
        "x = {" + ".".join(["a"] * 100_000) + " = 1}",
        "[" + ".".join(["a"] * 100_000) + "]",
        "".join(f"k{i}." + ".".join(["a"] * 31) + " = 1\n" for i in range(3500)),
        "".join(f"[environments.k{i}]\n" for i in range(12_000)),
        "[[exclusions]]\n" * 15_000,
        "".join(f"[environments.k{i}]\nframework = 'torsch'\nmodes = ['eagr']\n" for i in range(900)),
        PLAIN + "".join(f"[[exclusions]]\nmode = 'x{i}'\nreason = 'r'\n" for i in range(900)),
        PLAIN.replace('["old", "new"]', json.dumps([f"x{i}" for i in range(1000)])),
        "x = 0x" + "f" * 200_000,
        'study = "' + "x" * 200_000 + '"',
        "\n" * 250_000,
        "# " + "." * 250_000,
        '[environments."\\u001b[31mred"]\nframework = "\\u001b[2J"\n',
        "x" * (toml_limits.LARGEST_BYTES + 1),
        "\ufeff\ufeff" + PLAIN,
    ],
    ids=range(20),
)
def test_a_hostile_file_is_refused_in_time_and_in_a_few_lines(tmp_path, content):
    path = tmp_path / "matrix.toml"
    path.write_text(content, encoding="utf-8")
    began = time.process_time()
    problem = problem_of(path)
    assert time.process_time() - began < HANG_S
    assert problem is not None
    assert_readable(problem)


def test_many_problems_are_counted():
    tables = {**TABLES, **{f"x{number}": 1 for number in range(500)}}
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables)
    assert len(caught.value.errors) == 500
    assert str(caught.value).splitlines()[-1] == f"… and {500 - MOST_ERRORS} more problems."


def make_special(path: Path, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to(path.with_name("nowhere"))
    else:
        path.symlink_to({"zero": Path("/dev/zero"), "loop": path}[kind])


SPECIAL = ("fifo", "zero", "loop", "folder", "dangling")


@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_file_is_refused_at_once(tmp_path, capsys, kind):
    path = tmp_path / "matrix.toml"
    make_special(path, kind)
    began = time.process_time()
    assert main(["run", "--matrix", str(path)], root=tmp_path) == 2
    assert time.process_time() - began < HANG_S
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "matrix.toml: cannot be read: " in said
    assert "--matrix FILE" in said


@pytest.mark.parametrize("kind", SPECIAL)
def test_nox_refuses_it_too(project, kind):
    (project / "matrix.toml").unlink()
    make_special(project / "matrix.toml", kind)
    command = [sys.executable, "-m", "nox", "-f", "noxfile.py", "-l", "--", "--matrix", "matrix.toml"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert "cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_that_steer_a_terminal_are_not_listed(project):
    (project / "matrix.toml").write_text(
        '[environments."\\u001b[31mred"]\n[environments.good]\n[environments."Bad Name"]\n'
    )
    listed = run(project, "-l", plain=True)
    assert "bench-good" in listed.stdout
    assert "\x1b[31mred" not in listed.stdout + listed.stderr
    assert "Bad Name" not in listed.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bench-odl", "unknown environment 'odl'; did you mean 'old'? Known: old, new, broken."),
        ("old", "unknown session 'old'; an environment is measured by 'bench-old'."),
        ("benchold", "unknown session 'benchold'; did you mean 'bench-old'?"),
        ("repotr", "unknown session 'repotr'; did you mean 'report'?"),
        ("lintt", "unknown session 'lintt'; did you mean 'lint'?"),
        ("reports/a", "'reports/a' is no session. What a session gets follows --, as in: nox -s report -- reports/a"),
    ],
)
def test_a_session_that_does_not_exist_gets_the_nearest_name(project, name, said):
    done = run(project, "-s", name, plain=True)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Sessions not found" not in done.stderr + done.stdout


def test_where_there_is_no_study_file_its_lack_is_named(project):
    (project / "matrix.toml").unlink()
    said = run(project, "-s", "bench-old", plain=True).stderr
    assert said.endswith(f"{project} has no matrix.toml; the project may be another folder.\n")


def test_no_session_runs_before_one_that_does_not_exist(project):
    assert run(project, "-s", "lock", "lintt", "--", "new", plain=True).returncode == 2
    assert calls(project) == []


def test_a_session_of_the_noxfile_itself_can_still_be_named(project):
    assert run(project, "-s", "lock", "--", "new", plain=True).returncode == 0
    assert "Check the rules" in run(project, "-l", "-s", "lint", plain=True).stdout


def test_a_session_of_several_pythons_can_be_named_with_a_version(project):
    with (project / "noxfile.py").open("a") as noxfile:
        noxfile.write("\n@nox.session(python=['3.11', '3.12'])\ndef mine(session): pass\n")
    assert "* mine-3.12" in run(project, "-l", "-s", "mine-3.12", plain=True).stdout


def test_the_names_of_a_command_line_are_found_in_every_form():
    asked = session_names.asked
    assert asked(["nox", "-s", "a", "b", "--", "-s", "c"]) == ["a", "b"]
    assert asked(["nox", "-sa", "--session=b", "--sessions", "c", "d", "-v", "x"]) == ["a", "b", "c", "d"]
    assert asked(["nox", "-l"]) == []
    assert asked(["nox", "-s", "tests(python='3.11')"]) == []


def test_our_own_study_is_far_from_the_limits():
    text = (ROOT / "matrix.toml").read_text()
    assert len(text) < toml_limits.LARGEST_BYTES / 4
    assert location.read(ROOT / "matrix.toml")["study"]["name"]
