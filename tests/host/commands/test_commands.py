"""Tests the command line over real NumPy workers: whole runs, kills, interruptions, refusals and their exit codes."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import small_project
from small_project import call, wait_for

from bench.host.refusal import Refused
from bench.host.storage import journal, manifest, worker_logs

ROOT = Path(__file__).resolve().parents[3]
MATRIX = """
[study]
name = "small"
baseline = "here:eager"
default = ["here", "again"]
profile = "check"
seed = 1
threads = 1

[environments.here]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]

[environments.again]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]

[environments.absent]
provider = "existing"
interpreter = "/nowhere/python"
framework = "numpy"
modes = ["eager"]

[workloads.mlp-train]
[workloads.gemm]
[workloads.transformer-train]

[profiles.check]
peaks = false
rounds = 2
samples = 3
sample_seconds = 0.001
sizes = ["check"]
timeout_s = 60

[profiles.long]
peaks = false
rounds = 3
samples = 12
sample_seconds = 0.02
sizes = ["check"]
timeout_s = 60
"""


@pytest.fixture
def checkout(tmp_path):
    """Make a project with a study file and no state."""
    (tmp_path / "matrix.toml").write_text(MATRIX.format(python=sys.executable))
    return tmp_path


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A project with a finished run of one workload."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "matrix.toml").write_text(MATRIX.format(python=sys.executable))
    assert call(folder, "run", "--workload", "gemm") == 0
    return folder


@pytest.fixture
def finished(measured, tmp_path):
    """A copy of that project."""
    return shutil.copytree(measured, tmp_path / "project", symlinks=True)


spawn = functools.partial(small_project.spawn, errors=subprocess.STDOUT)


def test_a_run_gives_records_and_a_table_with_a_reason_for_every_empty_cell(checkout, capsys):
    assert call(checkout, "run", "--environment", "here", "--environment", "again", "--environment", "absent") == 0
    folder = checkout / "reports" / "small"
    records = journal.read(folder)
    ok = [r for r in records if r.status == "ok"]
    assert {(r.cell.environment, r.cell.workload, r.round) for r in ok} == {
        (e, w, n) for e in ("here", "again") for w in ("mlp-train", "gemm") for n in (0, 1)
    }
    for record in ok:
        # A busy machine may have added turns that repeat disturbed ones.
        assert record.sample_turn[:3] == [0, 1, 2]
        assert record.settings["threads"] == 1
        assert record.memory["peak_bytes"] > 0
    assert {r.status for r in records if r.cell.environment == "absent"} == {"unsupported"}
    text = (folder / "table.md").read_text()
    assert "/nowhere/python" in text
    assert "no numpy implementation" in text
    described = manifest.read(folder)
    assert described is not None
    assert described.study.file == "matrix.toml"
    assert described.finished is True
    assert 0 < described.seconds.waited_for_workers <= described.seconds.elapsed
    for name in ("table.md", "table.tex", "details.csv", "machine.json", "environments.json"):
        assert (folder / name).stat().st_size > 0
    assert "Page: reports/small/report.html   Tables: table.md, summary.tex   --details" in capsys.readouterr().out


def test_the_report_can_be_redone_from_the_records_alone(finished, capsys):
    folder = finished / "reports" / "small"
    before = (folder / "details.csv").read_text()
    (folder / "details.csv").unlink()
    assert call(finished, "report") == 0
    assert (folder / "details.csv").read_text() == before


def test_a_page_that_is_made_again_keeps_the_logs_of_cells_without_a_time(finished):
    folder = finished / "reports" / "small"
    record, *others = journal.read(folder)
    log = worker_logs.place(folder, record.cell, worker_logs.label_of(record.round, record.attempt))
    log.parent.mkdir(exist_ok=True)
    log.write_text("last words of the worker\n")
    untimed = {name: [] for name in vars(record) if name.startswith("sample_")}
    (folder / "records.jsonl").unlink()
    ended = replace(record, status="failed", stage="build", reason="boom", **untimed)
    for one in (ended, *(other for other in others if other.cell != record.cell)):
        journal.Journal(folder).append(one)
    assert call(finished, "report") == 0
    assert "last words of the worker" in (folder / "report.html").read_text()


def test_a_finished_run_is_archived_by_the_next(finished, capsys):
    first = journal.read(finished / "reports" / "small")
    call(finished, "run", "--workload", "gemm")
    (archived,) = (finished / "reports" / "small" / "history").iterdir()
    assert journal.read(archived) == first
    assert "previous run was moved to" in capsys.readouterr().out


@pytest.mark.parametrize("count", [0, 2])
def test_a_trial_replaces_no_results_in_lanes_and_without(finished, capsys, monkeypatch, count):
    # A machine with one processor has no lanes of its own accord.
    place = (min(os.sched_getaffinity(0)),)
    monkeypatch.setattr("bench.host.executors.lanes.possible", lambda threads: [place] * count)
    folder = finished / "reports" / "small"
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    matrix = finished / "matrix.toml"
    matrix.write_text(matrix.read_text().replace("[profiles.check]", "[profiles.check]\ntrial = true"))
    call(finished, "run", "--workload", "mlp-train")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    records = journal.read(folder / "trial")
    seen = [(record.round, record.cell.environment, record.cell.workload, record.status) for record in records]
    expected = [(number, name, "mlp-train", "ok") for number in (0, 1) for name in ("here", "again")]
    assert sorted(seen) == sorted(expected)
    # In lanes, the records have the order of the study, whichever ends first.
    assert not count or seen == expected
    assert all(record.sample_turn[:3] == [0, 1, 2] for record in records)
    assert "Page: reports/small/trial/report.html" in capsys.readouterr().out


def test_a_run_in_which_every_cell_fails_replaces_no_results(finished, capsys):
    folder = finished / "reports" / "small"
    before = journal.read(folder)
    call(finished, "run", "--environment", "absent", "--workload", "gemm")
    assert journal.read(folder) == before
    assert (folder / "table.md").exists()
    (archived,) = (folder / "history").iterdir()
    assert {record.status for record in journal.read(archived)} == {"unsupported"}
    assert "reports/small has the results of the run before again" in " ".join(capsys.readouterr().out.split())


def test_a_killed_run_continues_and_loses_no_turn(checkout):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--profile", "long", "--workload", "mlp-train")
    unfinished = folder / journal.UNFINISHED
    wait_for(lambda: unfinished.exists() and unfinished.read_text().count('"turn"') >= 6)
    run.kill()
    run.communicate()
    before = journal.read(folder)
    kept = sum(len(record.sample_ns) for record in before)
    assert kept >= 6
    again = spawn(checkout, "run", "--profile", "long", "--workload", "mlp-train")
    output, _ = again.communicate(timeout=120)
    assert again.returncode == 0, output
    assert "Continuing the run of" in output
    records = journal.read(folder)
    planned = [turn for record in records for turn in record.sample_turn if turn < 12]
    assert len(planned) == 2 * 3 * 12
    samples = [sample for record in records for sample in record.sample_ns]
    assert all(sample in samples for record in before for sample in record.sample_ns)


def test_ctrl_c_leaves_a_partial_table_no_worker_and_its_own_exit_code(checkout):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--profile", "long")
    wait_for(lambda: (folder / journal.RECORDS).exists() and (folder / journal.UNFINISHED).exists())
    os.killpg(run.pid, signal.SIGINT)
    output, _ = run.communicate(timeout=30)
    assert run.returncode == 130, output
    assert "the same command continues" in output
    assert (folder / "table.md").exists()
    described = manifest.read(folder)
    assert described is not None
    assert described.finished is False
    assert not any(str(checkout) in command for command in worker_commands())


def worker_commands() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if "bench.worker" in (path / "cmdline").read_text():
                found.append(os.readlink(path / "cwd"))
        except OSError:
            continue
    return found


def test_two_runs_at_once_are_refused_and_not_mixed(checkout, capsys):
    run = spawn(checkout, "run", "--profile", "long")
    wait_for(lambda: (checkout / "reports" / "small" / manifest.RUN).exists())
    assert call(checkout, "run") == 2
    assert f"another run is under way in this project (process {run.pid})" in capsys.readouterr().err
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=30)


def test_another_selection_does_not_mix_with_an_unfinished_run(checkout, capsys):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--profile", "long")
    wait_for(lambda: (folder / journal.UNFINISHED).exists())
    run.kill()
    run.communicate()
    assert call(checkout, "run", "--workload", "gemm") == 0
    assert {record.cell.workload for record in journal.read(folder)} == {"gemm"}
    assert len(list((folder / "history").iterdir())) == 1


def test_fresh_starts_over(checkout, capsys):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--workload", "gemm", "--profile", "long")
    wait_for(lambda: (folder / journal.UNFINISHED).exists())
    run.kill()
    run.communicate()
    assert call(checkout, "run", "--workload", "gemm", "--profile", "long", "--fresh") == 0
    assert "Continuing" not in capsys.readouterr().out
    assert {record.attempt for record in journal.read(folder)} == {1}


def test_a_broken_environment_alone_is_a_failure_of_the_run_but_has_its_table(checkout, capsys):
    broken = checkout / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    call(checkout, "run", "--environment", "here", "--interpreter", f"here={broken}")
    (reason,) = {record.reason for record in journal.read(checkout / "reports" / "small")}
    assert str(broken) in str(reason)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workload", "mlp-trian"], "mlp-train"),
        (["--profile", "quik"], "quik"),
        (["--environment", "her"], "here"),
        (["--mode", "jit"], "jit"),
    ],
)
def test_a_wrong_selection_is_explained_with_exit_code_2(checkout, capsys, arguments, said):
    assert call(checkout, "run", *arguments) == 2
    assert said in capsys.readouterr().err
    assert not (checkout / "reports").exists()


def test_every_error_of_a_study_file_comes_at_once_with_exit_code_2(checkout, capsys):
    path = checkout / "matrix.toml"
    path.write_text(
        path.read_text().replace("rounds = 2", "rounds = 0").replace('framework = "numpy"', 'framwork = "numpy"', 1)
    )
    assert call(checkout, "run") == 2
    said = capsys.readouterr().err
    assert "rounds" in said
    assert "framwork" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("more", [["--dry-run"], []])
def test_a_baseline_that_is_not_in_the_run_is_said_before_anything_is_built(tmp_path, capsys, monkeypatch, more):
    def stop(*_arguments, **_named):
        raise Refused("stopped before building")

    monkeypatch.setattr("bench.host.commands.run._prepare", stop)
    there = [
        "[environments.there]",
        'provider = "existing"',
        f'interpreter = "{sys.executable}"',
        'framework = "numpy"',
    ]
    small_project.write(tmp_path, more="\n".join([*there, 'modes = ["eager"]']))
    assert call(tmp_path, "run", "--environment", "there", *more) == (0 if more else 2)
    assert "The baseline here:eager is not part of this run; there:eager takes its place." in capsys.readouterr().out


def test_a_dry_run_measures_nothing(checkout, capsys):
    assert call(checkout, "run", "--dry-run") == 0
    assert "mlp-train" in capsys.readouterr().out
    assert not (checkout / "reports").exists()


def test_a_run_writes_its_report_in_the_language_of_the_command_line(checkout, capsys):
    assert call(checkout, "run", "--workload", "gemm", "--environment", "here", "--language", "pt_BR") == 0
    folder = checkout / "reports" / "small"
    in_portuguese = (folder / "table.md").read_text()
    assert "framework e modo" in in_portuguese
    assert call(checkout, "report") == 0
    assert "framework and mode" in (folder / "table.md").read_text()
    assert call(checkout, "report", "--language", "pt-BR") == 0
    assert (folder / "table.md").read_text() == in_portuguese


def test_an_unknown_language_is_refused_before_anything_is_measured(checkout, capsys):
    assert call(checkout, "run", "--language", "klingon") == 2
    assert "--language: unknown language 'klingon'" in capsys.readouterr().err
    assert not (checkout / "reports").exists()


def test_a_report_of_a_damaged_run_says_which_file_is_damaged(checkout, capsys):
    folder = checkout / "reports" / "small"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"run": ')
    assert call(checkout, "report") == 2
    assert "run.json is damaged" in capsys.readouterr().err


def test_a_report_of_nothing_is_refused_with_the_remedy(checkout, capsys):
    assert call(checkout, "report") == 2
    assert "nox -s bench-here" in capsys.readouterr().err


def test_records_that_are_rubbish_are_never_executed_and_never_fatal(finished, capsys):
    path = finished / "reports" / "small" / journal.RECORDS
    path.write_text('__import__("os").system("false")\n{"half": \n' + path.read_text() + "\x00\x00\n[]\n")
    assert call(finished, "report") == 0
    assert json.loads((finished / "reports" / "small" / "run.json").read_text())["finished"]


def test_the_peaks_of_the_machine_are_measured_once_a_run(checkout):
    path = checkout / "matrix.toml"
    path.write_text(path.read_text().replace("peaks = false\nrounds = 2", "rounds = 2"))
    assert call(checkout, "run", "--environment", "here", "--workload", "gemm") == 0
    described = manifest.read(checkout / "reports" / "small")
    assert described is not None
    assert set(described.peaks) == {"here/cpu"}
    assert described.peaks["here/cpu"]["flops_per_s"]["float32"] > 1e8
    assert len(described.peaks["here/cpu"]["bandwidths"]) > 3


def test_a_twin_gives_the_noise_floor_and_a_budget_ends_the_run(checkout):
    path = checkout / "matrix.toml"
    path.write_text(path.read_text().replace("rounds = 2\nsamples", "rounds = 8\ntwin = true\nsamples"))
    assert call(checkout, "run", "--environment", "here", "--environment", "again", "--workload", "gemm") == 0
    folder = checkout / "reports" / "small"
    assert {r.cell.environment for r in journal.read(folder)} == {"here", "here~twin", "again"}
    assert "Noise floor" in (folder / "table.md").read_text()
    assert call(checkout, "run", "--environment", "here", "--environment", "again", "--budget", "1s") == 0
    described = manifest.read(folder)
    assert described is not None
    assert {stop.why for stop in described.stopped.values()} == {"budget"}


def test_the_largest_batch_under_a_cap_is_found_for_every_cell(checkout):
    arguments = ("--environment", "here", "--workload", "mlp-train", "--largest-batch", "64MiB")
    assert call(checkout, "run", *arguments) == 0
    described = manifest.read(checkout / "reports" / "small")
    assert described is not None
    (found,) = described.largest_batch.values()
    assert found["status"] == "ok"
    assert found["items"] > 8
