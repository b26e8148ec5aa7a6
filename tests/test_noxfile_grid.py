"""Tests what ``nox -s grid`` prepares, checks and removes."""

from __future__ import annotations

import re
from pathlib import Path

import grid
import grid_time
import pytest
from nox_project import ROOT, calls, project, run

from bench.host.study import study_file
from bench.registry import BUILT_IN

__all__ = ["project"]


def checks(project, *words, **statuses):
    """Return what the grid checks with ``run``, where the results of the studies have these statuses of gemm."""
    for study in ("full", "mixed-precision", "older-versions"):
        folder = project / "reports" / study / "trial"
        folder.mkdir(parents=True, exist_ok=True)
        status = statuses.get(study.partition("-")[0], "ok")
        (folder / "results.csv").write_text(f"workload,status\nmlp-train,unsupported\ngemm,{status}\n")
        (folder / "details.csv").write_text("settings\ngenerated for: avx512\n")
    assert run(project, "-s", "grid", "--", *words).returncode == 0
    return [call[2:] for call in calls(project) if call[1] == "run"]


@pytest.mark.parametrize(
    ("words", "full", "older"),
    [((), 1, 2), (("older-versions",), 0, 2), (("flax",), 0, 0), (("default-study", "flax"), 1, 0)],
)
def test_the_grid_checks_the_studies_where_all_is_checked_or_they_are_named(project, words, full, older):
    matrices = [call[1] for call in checks(project, *words)]
    default = ["studies/full.toml", "studies/mixed-precision.toml"]
    assert matrices == default * full + ["studies/older-versions.toml"] * older
    # The names are no environments that are prepared, and nothing for pytest.
    assert all(not {"default-study", "older-versions"} & set(call) for call in calls(project))


def test_a_word_that_is_no_part_checks_nothing_in_place_of_the_whole_grid(project):
    refused = run(project, "-s", "grid", "--", "flx")
    assert (refused.returncode, "unknown part of the grid 'flx'; did you mean 'flax'?" in refused.stderr) == (1, True)
    assert calls(project) == []
    # Options of pytest have values, and paths select tests.
    assert checks(project, "flax", "-k", "nothing", "tests/support/grid.py") == []


@pytest.mark.parametrize(("study", "runs"), [("full", 1), ("mixed", 1), ("older", 2)])
def test_the_grid_checks_again_what_failed_and_allows_no_failure_then(project, study, runs):
    made = [call for call in checks(project, **{study: "failed"}) if study in call[1]]
    assert len(made) == 2 * runs
    for first, again in zip(made[::2], made[1::2], strict=True):
        assert "--allow-failures" in first
        assert again == [*first[:-2], "gemm"]


def test_the_grid_fails_where_code_was_generated_without_vector_instructions(project):
    checks(project, "older-versions")
    (project / "reports/older-versions/trial/details.csv").write_text("settings\ngenerated for: no vector instructions")
    done = run(project, "-s", "grid", "--", "older-versions")
    assert done.returncode == 1
    assert "code was generated for no vector instructions" in done.stderr


@pytest.fixture
def room(project):
    """Sets the room on the disk that building in advance takes."""

    def put(size_bytes):
        path = project / "tests/support/grid.py"
        path.write_text(re.sub("^ROOM_BYTES = .*", f"ROOM_BYTES = {size_bytes}", path.read_text(), flags=re.MULTILINE))

    return put


def test_the_grid_checks_one_portion_after_another_and_removes_it_where_that_is_wanted(project, room):
    room("1e18")
    checks(project, "tflite", "theano", "torch-xla", "--remove")
    tests = ["pytest", "-n", "auto", "--durations", "20", "-m", "grid", "tests/frameworks"]
    assert calls(project) == [
        ["bench.host", "prepare", "theano"],
        tests,
        ["bench.host", "remove", "theano", "--cached", "--matrix", "matrix.toml"],
        ["bench.host", "prepare", "torch-xla", "tflite"],
        tests,
        ["bench.host", "remove", "torch-xla", "tflite", "--cached", "--matrix", "matrix.toml"],
    ]


def test_all_tests_of_environments_of_the_grid_are_where_it_looks_for_them():
    marked = [path for path in (ROOT / "tests").rglob("*.py") if "mark.grid" in path.read_text(encoding="utf-8")]
    assert [path for path in marked if path != Path(__file__)] == [ROOT / "tests" / "frameworks" / "modes.py"]


def test_with_room_on_the_disk_the_grid_builds_a_portion_while_it_checks_the_one_before(project, room):
    room("0")
    checks(project, "default-study", "tflite", "theano", "torch-xla", "--remove")
    called = calls(project)
    kinds = [call[1] if call[0] == "bench.host" else call[6] for call in called]
    prepared = [call[2:] for call in called if call[1] == "prepare"]
    assert prepared == [["old", "numpy"], ["theano"], ["torch-xla", "tflite"]]
    # Removed is what was checked.
    first = called.index(["bench.host", "remove", "theano", "--cached", "--matrix", "matrix.toml"])
    assert kinds[first - 2 : first] in (["grid", "prepare"], ["prepare", "grid"])
    assert kinds[first:] == ["remove", "grid", "remove"]


def test_a_study_is_checked_while_nothing_is_built_and_before_the_tests_that_read_what_it_recorded(project, room):
    room("0")
    checks(project, "default-study", "theano", full="failed")
    called = calls(project)
    kinds = [call[1] if call[0] == "bench.host" else call[6] for call in called]
    assert kinds[:2] == ["prepare", "run"]
    # What failed is checked again after them: the second run has few of the cells.
    assert kinds[2:4] in (["long", "prepare"], ["prepare", "long"])
    assert kinds[4:] == ["run", "run", "grid"]
    assert called[4][-1] == "gemm"


def test_a_build_that_fails_beside_tests_ends_the_grid(project, room):
    room("0")
    path = project / "tests/support/grid.py"
    path.write_text(path.read_text().replace('"tflite"', '"broken"'))
    assert run(project, "-s", "grid", "--", "theano", "broken").returncode != 0
    assert "remove" not in [call[1] for call in calls(project)]


def test_tests_that_fail_keep_no_other_part_from_its_check(project, room):
    room("1e18")
    # It is the value of an option of pytest, which fails with it.
    done = run(project, "-s", "grid", "--", "theano", "tflite", "-k", "broken", "--remove")
    assert done.returncode == 1
    assert "failed: tests of theano; tests of tflite" in done.stderr
    kinds = [call[1] if call[0] == "bench.host" else call[6] for call in calls(project)]
    assert kinds == ["prepare", "grid", "remove"] * 2


def test_parts_that_would_not_be_done_in_time_are_left_out_and_named(project):
    done = run(project, "-s", "grid", "--", "theano", "tflite", "--minutes", "10")
    assert done.returncode == 0
    assert "not checked, because the machine is too slow for --minutes: theano\n" in done.stderr
    assert "--minutes: tflite" not in done.stderr
    assert [call[-1] for call in calls(project) if call[1] == "prepare"] == ["tflite"]


def test_the_default_study_is_checked_however_little_time_there_is(project):
    assert len(checks(project, "default-study", "theano", "--minutes", "0")) == 2
    tests = [call for call in calls(project) if call[0] == "pytest"]
    assert [call[call.index("-m") + 1] for call in tests] == ["long"]


@pytest.mark.parametrize("words", [("--minutes",), ("--minutes", "soon"), ("--minutes", "-5")])
def test_what_is_no_number_of_minutes_is_refused(project, words):
    refused = run(project, "-s", "grid", "--", *words)
    assert (refused.returncode, "is no number of minutes; give a whole one" in refused.stderr) == (1, True)
    assert calls(project) == []


def test_how_long_a_part_takes_is_judged_by_those_before_it():
    minutes = [0.0]
    left = grid_time.TimeLeft(60, clock=lambda: 60 * minutes[0])
    assert left.suffices_for("first", 20)
    # The machine took twice the usual time: 10 usual minutes would be 20.
    minutes[0] = 40.0
    assert not left.suffices_for("longer", 11)
    assert left.suffices_for("second", 10)
    assert left.left_out == ["longer"]
    # Without a limit all is done.
    assert grid_time.TimeLeft(grid_time.taken_from([])[0]).suffices_for("any", 1e9)


def test_a_study_that_fails_twice_is_named_and_the_rest_is_checked(project):
    folder = project / "reports/older-versions/trial"
    folder.mkdir(parents=True)
    # The second check names the workloads that failed, and fails with this name.
    (folder / "results.csv").write_text("workload,status\nbroken,failed\n")
    (folder / "details.csv").write_text("settings\n")
    done = run(project, "-s", "grid", "--", "older-versions", "--remove")
    assert done.returncode == 1
    assert "failed: study older-versions; study older-versions" in done.stderr
    assert [call[1] for call in calls(project)] == ["prepare", "run", "run", "run", "run", "remove"]


OLDER = ["torch-1.12.1", "torch-2.0.1", "tensorflow-2.10.1", "jax-0.4.13", "jax-0.4.30"]


def test_the_grid_removes_the_older_versions_after_their_checks(project):
    checks(project, "older-versions", "--remove")
    built, first, second, removed = calls(project)
    assert built == ["bench.host", "prepare", *OLDER, "--matrix", "studies/older-versions.toml"]
    named = [word for name in OLDER for word in ("--environment", name)]
    assert first[-13:] == [*named, "--workload", "*", "--allow-failures"]
    assert second[-13:] == [*named, "--workload", "*-train", "--allow-failures"]
    assert removed == ["bench.host", "remove", *OLDER, "--cached", "--matrix", "studies/older-versions.toml"]


def test_the_grid_gives_two_threads_to_what_divides_training_steps_between_devices(project):
    made = {call[call.index("--threads") + 1]: call for call in checks(project, "older-versions")}
    assert {threads: call[call.index("--mode") + 1] for threads, call in made.items()} == {
        "1": "*", "2": "mirrored,pmap,shard-map"
    }  # fmt: skip


def test_all_modes_that_divide_steps_between_devices_get_two_threads():
    study = study_file.load(ROOT / "studies" / "older-versions.toml")
    found = {
        mode
        for environment in study.environments.values()
        for mode in environment.modes
        if BUILT_IN.facts(environment.framework).mode(mode).devices > 1
    }
    assert set(grid.OLDER_DIVIDED.split(",")) == found


def test_the_whole_grid_removes_nothing_unless_it_is_told_to(project):
    checks(project)
    called = calls(project)
    assert not [call for call in called if "remove" in call]
    prepared = [name for call in called if call[1] == "prepare" for name in call[2:]]
    assert {*prepared} >= {"old", "numpy", "lightning", "jax-grain"}
