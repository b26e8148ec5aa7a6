"""Tests the sessions of the noxfile, but for the grid's checks."""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys

import pytest
from nox_project import ROOT, calls, project, run

from bench.host.commands import report as report_command
from bench.host.commands import run as run_command
from bench.host.setup import HOST_OPTIONS

__all__ = ["project"]


def test_a_mistake_on_the_command_line_ends_the_invocation_with_exit_code_2(project):
    done = run(project, "-s", "bench-old", "bench-new", "--", "--mistaken")
    assert done.returncode == 2
    assert [call[1] for call in calls(project)] == ["run"]


def test_every_environment_of_the_matrix_has_a_session_and_the_default_ones_are_selected(project):
    listed = run(project, "-l").stdout
    assert "* bench-old" in listed
    assert "- bench-new" in listed
    for session in ("measure", "report", "tests", "lint", "types", "worker", "lock", "schema", "benchmarks"):
        assert f"- {session} ->" in listed


@pytest.mark.parametrize("plain", [False, True])
def test_measuring_happens_once_at_the_end_over_all_that_were_named(project, plain):
    done = run(project, "-s", "bench-old", "bench-new", "--", "--profile", "quick", plain=plain)
    assert done.returncode == 0, done.stderr
    assert calls(project) == [
        ["bench.host", "run", "--environment", "old", "--environment", "new", "--profile", "quick"],
    ]


@pytest.mark.parametrize(
    ("arguments", "code"), [(("bench-old", "bench-new"), 0), (("report",), 0), (("bench-broken", "bench-new"), 1)]
)
def test_what_is_measured_stays_on_the_screen_and_only_failures_stand_below(project, arguments, code):
    done = run(project, "-s", *arguments)
    assert done.returncode == code
    told = done.stderr + done.stdout
    after = told[told.rindex("bench.host report" if arguments == ("report",) else "bench.host run") :].splitlines()[1:]
    assert [line for line in after if "failed" not in line] == []
    assert bool(after) == bool(code)


def test_a_session_that_only_names_an_environment_is_not_called_a_success(project):
    done = run(project, "-s", "bench-old", "bench-new", "lint")
    assert "successful" not in done.stderr.partition("Running session lint")[0]
    assert "Running session bench-new" in done.stderr


FAMILY = '[environments.torch]\nversions = ["2.10.0", "2.9.1", "../x"]\nmodes = ["eager", "compile"]\n'


def test_a_family_has_a_session_and_so_has_each_of_its_versions(project):
    (project / "matrix.toml").write_text(FAMILY + "[environments.old]\n")
    listed = run(project, "-l").stdout
    assert "* bench-torch -> Measure torch 2.9.1, 2.10.0: eager, compile.\n" in listed
    assert "- bench-torch-2.9.1 -> Measure torch 2.9.1: eager, compile.\n" in listed
    assert "- bench-torch-2.10.0" in listed
    assert ".." not in listed


def test_the_session_of_a_family_measures_all_of_its_versions(project):
    (project / "matrix.toml").write_text(FAMILY)
    assert run(project, "-s", "bench-torch").returncode == 0
    assert calls(project) == [["bench.host", "run", "--environment", "torch"]]


def test_the_session_of_a_version_measures_it_alone(project):
    (project / "matrix.toml").write_text(FAMILY)
    assert run(project, "-s", "bench-torch-2.9.1").returncode == 0
    assert calls(project)[-1] == ["bench.host", "run", "--environment", "torch-2.9.1"]


@pytest.mark.parametrize("name", ["bench-old", "report", "lint"])
def test_no_session_is_defined_twice(project, name):
    assert "already" not in run(project, "-s", name).stderr


def test_with_no_session_named_the_default_study_runs(project):
    assert run(project).returncode == 0
    assert calls(project) == [["bench.host", "run", "--environment", "old"]]


def test_without_a_default_all_environments_run(project):
    (project / "matrix.toml").write_text("[environments.a]\n[environments.b]\n")
    assert run(project).returncode == 0
    assert calls(project)[-1] == ["bench.host", "run", "--environment", "a", "--environment", "b"]


@pytest.mark.parametrize("how", ["argument", "joined", "variable"])
def test_another_study_file_can_be_named(project, how):
    (project / "other.toml").write_text("[environments.third]\n")
    arguments = {"argument": ["--matrix", "other.toml"], "joined": ["--matrix=other.toml"], "variable": []}[how]
    variables = {"BENCHMATRIX_MATRIX": "other.toml"} if how == "variable" else {}
    assert run(project, "-s", "bench-third", "--", *arguments, **variables).returncode == 0
    named = arguments or ["BENCHMATRIX_MATRIX=other.toml"]
    assert calls(project) == [
        ["bench.host", "run", "--environment", "third", *named],
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [("[study\n", "matrix.toml: not valid TOML"), (b"\xff", "cannot be read"), (None, "cannot be read")],
)
@pytest.mark.parametrize("plain", [False, True])
def test_a_study_file_that_is_no_toml_is_an_error_for_people(project, content, message, plain):
    arguments = ["-l", "--", "--matrix", "matrix.toml"]
    (project / "matrix.toml").unlink()
    if content is not None:
        (project / "matrix.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run(project, *arguments, plain=plain)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("content", ["environments = 3", "study = 1\n[environments]", "[study]\ndefault = 7"])
def test_the_gates_can_be_listed_whatever_the_study_says(project, content):
    (project / "matrix.toml").write_text(content)
    done = run(project, "-l")
    assert (done.returncode, "- tests ->" in done.stdout) == (0, True)


def test_without_a_study_file_the_gates_are_there(project):
    (project / "matrix.toml").unlink()
    assert "- tests ->" in run(project, "-l").stdout


def test_the_tests_find_every_default_environment_prepared(project):
    assert run(project, "-s", "tests", "--", "-k", "x").returncode == 0
    prepared, (program, *options) = calls(project)
    assert prepared == ["bench.host", "prepare", "old"]
    assert (program, options[:2], options[-2:]) == ("pytest", ["-n", "auto"], ["-k", "x"])


def test_what_takes_long_is_left_to_the_grid_which_prepares_the_default_environments_too(project):
    run(project, "-s", "tests")
    *_, (_, *options) = calls(project)
    assert options[options.index("-m") + 1] == "not long"
    run(project, "-s", "grid", "--", "default-study")
    assert calls(project)[2:3] == [["bench.host", "prepare", "old", "numpy"]]


def test_the_worker_ring_is_tested_by_the_interpreter_that_was_prepared(project):
    done = run(project, "-s", "worker")
    assert "/bin/echo -m pytest --confcutdir=tests/worker tests/worker" in done.stderr
    assert done.returncode == 0


def test_the_gates_run_in_the_dev_environment(project):
    run(project, "-s", "lint", "types", "report", "lock", "schema", "--", "x")
    assert calls(project) == [
        ["ruff", "check", "x"],
        ["ruff", "format", "--check"],
        ["mypy", "x"],
        ["bench.host", "report", "x"],
        ["bench.host", "lock", "x"],
        ["bench.host", "schema", "x"],
    ]


def test_a_benchmark_is_named(project):
    (project / "benchmarks").mkdir()
    (project / "benchmarks" / "speed.py").touch()
    refused = run(project, "-s", "benchmarks")
    assert (refused.returncode, "name one of them, behind --: speed" in refused.stderr) == (1, True)
    unknown = run(project, "-s", "benchmarks", "--", "sped")
    assert (unknown.returncode, "unknown benchmark 'sped'; did you mean 'speed'?" in unknown.stderr) == (1, True)
    assert run(project, "-s", "benchmarks", "--", "speed", "2").returncode == 0
    assert calls(project) == [["benchmarks.speed", "2"]]


def test_an_environment_that_cannot_be_made_is_an_error_for_people(project):
    (project / "locks" / "host.txt").unlink()
    done = run(project, "-s", "report")
    assert done.returncode == 2
    assert "git checkout -- locks/host.txt" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_is_told_what_it_lacks(project):
    noxfile = (project / "noxfile.py").read_text()
    (project / "noxfile.py").write_text(
        noxfile.replace("import sys\n", "import sys\nsys.version_info = (3, 8, 1)\n", 1)
    )
    done = run(project, "-l")
    assert (done.returncode, "this is 3.8. Try: python3.11" in done.stderr) == (2, True)


def test_the_noxfile_can_be_read_by_an_old_python():
    source = ROOT.joinpath("noxfile.py").read_text()
    assert ast.parse(source, feature_version=(3, 7)).body
    # The parser would say so.
    with pytest.raises(SyntaxError):
        ast.parse(source + "\nassert (walrus := 1)\n", feature_version=(3, 7))


def test_a_range_of_versions_has_a_session_for_each_release_that_was_looked_up(project):
    (project / "matrix.toml").write_text('[environments.torch]\nversions = ">=2.9"\n')
    before = run(project, "-l").stdout
    assert "* bench-torch ->" in before
    assert "bench-torch-2" not in before
    (project / "locks" / "torch.versions.txt").write_text("# fits: >=2.9\n2.9.1\n2.10.0\n")
    after = run(project, "-l").stdout
    assert "* bench-torch -> Measure torch 2.9.1, 2.10.0.\n" in after
    assert "- bench-torch-2.9.1 ->" in after
    assert "- bench-torch-2.10.0 ->" in after


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("-s bench-old --workload gemm", "--workload belongs after --, as in: -s bench-old -- --workload gemm"),
        (
            "--size tiny -s bench-old bench-new --wait 1m",
            "--size belongs after --, as in: -s bench-old bench-new -- --size tiny --wait 1m",
        ),
        ("--size tiny --session=bench-old", "--size belongs after --, as in: --session=bench-old -- --size tiny"),
        ("--mode eager -sbench-old", "--mode belongs after --, as in: -sbench-old -- --mode eager"),
        ("--mode eager -s history -- torch", "--mode belongs after --, as in: -s history -- --mode eager torch"),
        ("report reports/old", "the names of sessions belong after -s, as in: -s report -- reports/old"),
        ("bench-old", "the names of sessions belong after -s, as in: -s bench-old"),
        ("bench-old --wait 1m", "--wait belongs after --, as in: -s bench-old -- --wait 1m"),
    ],
)
def test_words_in_the_wrong_place_are_refused_with_the_line_that_was_meant(project, given, told):
    done = run(project, *given.split())
    assert (done.returncode, done.stderr) == (2, f"benchmatrix: {told}\n")
    assert calls(project) == []


def test_every_option_that_is_looked_for_before_the_dashes_is_one_of_a_run_or_report_and_none_of_nox():
    known = set()
    for command in (run_command, report_command):
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        known |= {option for action in parser._actions for option in action.option_strings}
    assert set(HOST_OPTIONS) <= known
    told = subprocess.run([sys.executable, "-m", "nox", "--help"], capture_output=True, text=True, check=True).stdout
    assert not set(HOST_OPTIONS) & set(re.findall(r"--[\w-]+", told))
