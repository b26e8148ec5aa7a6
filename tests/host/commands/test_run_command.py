"""Tests whole runs over real NumPy workers: records, archives, trials, refusals and their exit codes."""

from __future__ import annotations

import json
import os
import sys

import pytest
import small_project
from small_project import call

from bench.host.executors.local import LocalExecutor
from bench.host.refusal import Refused
from bench.host.storage import journal, manifest


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


def test_a_finished_run_is_archived_by_the_next(finished, capsys):
    first = journal.read(finished / "reports" / "small")
    call(finished, "run", "--workload", "gemm")
    (archived,) = (finished / "reports" / "small" / "history").iterdir()
    assert journal.read(archived) == first
    said = capsys.readouterr().out
    assert said.startswith("Results go to reports/small.\n")
    assert said.count("moved to") == 1


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

    monkeypatch.setattr("bench.host.commands.run.prepare", stop)
    there = [
        "[environments.there]",
        'provider = "existing"',
        f'interpreter = "{sys.executable}"',
        'framework = "numpy"',
    ]
    small_project.write(tmp_path, more="\n".join([*there, 'modes = ["eager"]']))
    assert call(tmp_path, "run", "--environment", "there", *more) == (0 if more else 2)
    assert "The baseline here:eager is not part of this run; there:eager takes its place." in capsys.readouterr().out


def test_a_baseline_that_was_chosen_and_is_left_out_has_its_reason(tmp_path, capsys):
    numpy = ['provider = "existing"', f'interpreter = "{sys.executable}"', 'framework = "numpy"', 'modes = ["eager"]']
    small_project.write(tmp_path, more="\n".join(["[environments.there]", *numpy]))
    with (tmp_path / "matrix.toml").open("a") as study:
        study.write('\n[[exclusions]]\nenvironment = "here"\nreason = "broken there"\n')
    assert call(tmp_path, "run", "--environment", "here", "--environment", "there", "--dry-run") == 0
    said = "The baseline here:eager is not part of this run (broken there); there:eager takes its place."
    assert said in capsys.readouterr().out


def test_a_dry_run_measures_nothing(checkout, capsys):
    assert call(checkout, "run", "--dry-run") == 0
    assert "mlp-train" in capsys.readouterr().out
    assert not (checkout / "reports").exists()


@pytest.mark.parametrize(
    ("table", "named", "reason"),
    [
        ("", ["--interpreter", "here=/nope"], "; give another one: --interpreter here=PATH"),
        ('interpreter = "/nope"\n', [], "; give another one: --interpreter here=PATH"),
        ('provider = "venv"\npython = "3.11"\nrequirements = ["numpy"]\ninterpreter = "/nope"\n', [], ""),
    ],
)
def test_a_dry_run_names_an_interpreter_that_is_missing(tmp_path, capsys, table, named, reason):
    path = small_project.write(tmp_path) / "matrix.toml"
    if table:
        given = f'interpreter = "{sys.executable}"\n'
        given = f'provider = "existing"\n{given}' if "provider" in table else given
        assert given in path.read_text()
        path.write_text(path.read_text().replace(given, table))
    assert call(tmp_path, "run", "--dry-run", *named) == 0
    *_, said, place = capsys.readouterr().out.splitlines()
    assert said == (
        f"1 cell of here will be unsupported: the interpreter '/nope' does not exist or cannot be executed{reason}."
    )
    assert place == "Results go to reports/small."


def test_a_dry_run_says_of_a_run_without_a_cell_why_none_is_left(tmp_path, capsys):
    small_project.write(tmp_path, more='[[exclusions]]\nmode = "eager"\nreason = "not today"')
    assert call(tmp_path, "run", "--dry-run") == 2
    shown = capsys.readouterr()
    assert "0 cells in 1 row" in shown.out
    assert "Results go to" not in shown.out
    last = (
        "Nothing is selected that can be measured, as every chosen cell is left out: not today."
        " Choose others with --profile, --workload, --size, --precision or --mode.\n"
    )
    assert shown.err == last
    assert call(tmp_path, "run") == 2
    assert capsys.readouterr().err.endswith(last)


@pytest.mark.long
def test_a_reason_of_a_study_file_steers_no_terminal(checkout, capsys):
    """What a dry run prints comes from the study file, which may be somebody else's."""
    with (checkout / "matrix.toml").open("a") as file:
        file.write('[[exclusions]]\nworkload = "gemm"\nreason = "\\u001b[2J\\u202enever"\n')
    assert call(checkout, "run", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "[2J\ufffdnever" in out
    assert not {"\x1b", "\u202e"} & set(out)


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


@pytest.mark.long
def test_the_peaks_of_the_machine_are_measured_once_a_run(checkout):
    path = checkout / "matrix.toml"
    path.write_text(path.read_text().replace("peaks = false\nrounds = 2", "rounds = 2"))
    assert call(checkout, "run", "--environment", "here", "--workload", "gemm") == 0
    described = manifest.read(checkout / "reports" / "small")
    assert described is not None
    assert set(described.peaks) == {"here/cpu"}
    assert described.peaks["here/cpu"]["flops_per_s"]["float32"] > 1e8
    assert len(described.peaks["here/cpu"]["bandwidths"]) > 3


@pytest.mark.long
def test_peaks_that_a_cell_exceeds_are_measured_again_before_it_fails(checkout):
    path = checkout / "matrix.toml"
    path.write_text(
        path.read_text().replace("peaks = false\nrounds = 2", "rounds = 2").replace('"check"]\n', '"tiny"]\n')
    )
    words = ("run", "--environment", "here", "--workload", "gemm", "--fresh")
    assert call(checkout, *words) == 0
    found = manifest.read(checkout / "reports" / "small").peaks["here/cpu"]["flops_per_s"]["float32"]
    # As if the machine had been busy when its peaks were measured, which are kept for a day.
    (kept,) = (checkout / ".nox" / "peaks").iterdir()
    values = json.loads(kept.read_text())
    slow = {**values, "flops_per_s": {"float32": found / 1000}, "bandwidths": [[1 << 20, 1.0]]}
    kept.write_text(json.dumps(slow))
    assert call(checkout, *words) == 0
    again = manifest.read(checkout / "reports" / "small").peaks["here/cpu"]["flops_per_s"]["float32"]
    assert again > found / 10
    assert json.loads(kept.read_text())["flops_per_s"]["float32"] == again


@pytest.mark.long
def test_a_run_uses_what_an_earlier_one_verified_where_compiled_code_is_kept_too(checkout, monkeypatch):
    jobs = []
    run = LocalExecutor.run

    def noted(self, job, emit):
        jobs.append(job)
        run(self, job, emit)

    monkeypatch.setattr(LocalExecutor, "run", noted)

    def verified():
        jobs.clear()
        assert call(checkout, "run", "--workload", "gemm", "--environment", "here") == 0
        return [(len(job.growth_verified), len(job.growth_if_compiled)) for job in jobs]

    assert verified() == verified() == [(1, 0), (0, 0)]
    matrix = checkout / "matrix.toml"
    matrix.write_text(matrix.read_text().replace("[profiles.check]", '[profiles.check]\ncompile_cache = "kept"'))
    assert verified() == [(1, 0), (0, 0)]
    assert verified() == [(0, 1), (0, 0)]
    matrix.write_text(matrix.read_text().replace("seed = 1", "seed = 2"))
    assert verified() == [(1, 0), (0, 0)]


@pytest.mark.long
def test_a_twin_gives_the_noise_floor_and_a_budget_ends_the_run(checkout):
    path = checkout / "matrix.toml"
    path.write_text(path.read_text().replace("rounds = 2\nsamples", "rounds = 8\ntwin = true\nsamples"))
    assert call(checkout, "run", "--environment", "here,again", "--workload", "gemm") == 0
    folder = checkout / "reports" / "small"
    assert {r.cell.environment for r in journal.read(folder)} == {"here", "here~twin", "again"}
    assert "Noise floor" in (folder / "table.md").read_text()
    assert call(checkout, "run", "--environment", "here", "--environment", "again", "--budget", "1s") == 0
    described = manifest.read(folder)
    assert described is not None
    assert {stop.why for stop in described.stopped.values()} == {"budget"}


@pytest.mark.long
def test_the_largest_batch_under_a_cap_is_found_for_every_cell(checkout):
    arguments = ("--environment", "here", "--workload", "mlp-train", "--largest-batch", "64MiB")
    assert call(checkout, "run", *arguments) == 0
    described = manifest.read(checkout / "reports" / "small")
    assert described is not None
    (found,) = described.largest_batch.values()
    assert found["status"] == "ok"
    assert found["items"] > 8
