"""Tests the series of runs from the command line: adding, showing, the gate, and what is left out."""

from __future__ import annotations

import json
import math
import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_project import call, write

from bench.host.storage import accepted_changes, run_summary
from bench.host.storage.accepted_changes import Acceptance
from bench.host.storage.run_summary import RunSummary


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("project"), rounds=2)
    assert call(folder, "run", "--name", "first") == 0
    return folder


@pytest.fixture
def history(measured, tmp_path):
    """Return a folder with 30 nights; from the 20th on, the cell takes a quarter longer."""
    assert call(measured, "series", "--folder", str(tmp_path), "--add", "first") == 0
    (path,) = tmp_path.iterdir()
    run = run_summary.read(path)
    path.unlink()
    for n in range(30):
        level = 1.25 if n >= 20 else 1.0
        times = [level * 1e-3 * math.exp(0.01 * math.sin(7.3 * n + i)) for i in range(3)]
        facts = run.facts.model_copy(update={"run": f"2026-10-{n + 1:02d}", "started": f"2026-10-{n + 1:02d} 03:17:00"})
        run_summary.write(
            tmp_path, RunSummary(facts, (run.cells[0].model_copy(update={"step_s": times, "disturbed": 0}),))
        )
    return tmp_path


def test_a_run_is_added_to_the_history_of_its_study(measured, capsys):
    assert call(measured, "series", "--add", "reports/small") == 0
    said = capsys.readouterr().out
    (path,) = (measured / "series" / "small").iterdir()
    assert said.startswith(f"Added series/small/{path.name}\n1 run from ")
    assert "a change needs 3 runs before it and 3 from it on" in said


def test_changes_fit_a_narrow_terminal(measured, history, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    assert call(measured, "series", "--folder", str(history)) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_a_change_is_shown_with_its_size_its_time_and_its_runs(measured, history, capsys):
    assert call(measured, "series", "--folder", str(history)) == 0
    out = capsys.readouterr().out
    assert "30 runs from 2026-10-01 to 2026-10-30; 1 cell in 1 series" in out
    (line,) = [line for line in out.splitlines() if line.startswith("2026-10-21 03:17 UTC  2")]
    assert "% slower [" in line
    assert line.endswith("here:eager gemm/check/float32/cpu")
    assert "20 runs before, 10 from it on" in out
    assert max(map(len, out.splitlines())) <= 90


def test_the_gate_fails_on_the_newest_change(measured, history, capsys):
    assert call(measured, "series", "--folder", str(history), "--fail-if", "slower:5%") == 3
    said = capsys.readouterr().err
    assert re.fullmatch(
        r"Slower by more than 5 %: here:eager gemm/check/float32/cpu: 2\d\.\d % slower \[.*\] since "
        r"2026-10-21 03:17 UTC\n",
        said,
    )
    assert call(measured, "series", "--folder", str(history), "--fail-if", "slower:60%") == 0


GATE = ("--fail-if", "slower:5%")


def rewrite(path, **changes):
    """Change the only cell of a run's file."""
    run = run_summary.read(path)
    run_summary.write(path.parent, RunSummary(run.facts, (run.cells[0].model_copy(update=changes),)))


def test_the_gate_does_not_pass_where_it_looked_at_nothing(measured, history, capsys):
    assert call(measured, "series", "--folder", str(history), "--relative", *GATE) == 3
    assert "no chosen cell has a ratio to the baseline. Measure the baseline and another" in capsys.readouterr().err
    assert call(measured, "series", "--folder", str(history), "--last", "4", *GATE) == 3
    assert capsys.readouterr().err.endswith("--last 4 reads too few; give at least 10.\n")
    assert call(measured, "series", "--folder", str(history), "--last", "10", *GATE) == 0


def test_the_first_nights_of_a_history_pass_and_are_told(measured, history, capsys):
    """Only nights help: a job that is red until then is not looked at any more."""
    for path in sorted(history.iterdir())[7:]:
        path.unlink()
    assert call(measured, "series", "--folder", str(history), *GATE) == 0
    assert capsys.readouterr().err == (
        "Not judged yet: 1 cell of the newest run, such as here:eager gemm/check/float32/cpu with 7 comparable runs; a "
        "verdict needs 10: 5 before a change and 5 from it on.\n"
    )


def test_the_gate_names_the_cells_of_the_newest_run_that_it_cannot_judge_yet(measured, history, capsys):
    newest = history / "2026-10-30.jsonl"
    run = run_summary.read(newest)
    another = run.cells[0].model_copy(update={"column": "there:eager"})
    run_summary.write(history, RunSummary(run.facts, (*run.cells, another)))
    chosen = ("--folder", str(history), "--fail-if", "slower:60%")
    assert call(measured, "series", *chosen) == 0
    said = capsys.readouterr().err
    assert said.startswith(
        "Not judged yet: 1 cell of the newest run, such as there:eager gemm/check/float32/cpu with 1 "
    )
    assert call(measured, "series", *chosen, "--environment", "here") == 0
    assert "Not judged" not in capsys.readouterr().err
    # A cell that a later run no longer has is history.
    run_summary.write(history, RunSummary(run.facts.model_copy(update={"run": "2026-10-31"}), run.cells))
    assert call(measured, "series", *chosen) == 0


def test_the_gate_does_not_pass_where_a_part_of_the_history_is_left_out(measured, history, capsys):
    (history / "2026-10-05.jsonl").write_text("<<<<<<<")
    assert call(measured, "series", "--folder", str(history), "--fail-if", "slower:60%") == 3
    assert "Left out of the history: 1 file or line, so nothing shows that" in capsys.readouterr().err


def test_the_gate_says_where_other_programs_disturbed_every_time(measured, history, capsys):
    for path in sorted(history.iterdir()):
        rewrite(path, disturbed=3)
    assert call(measured, "series", "--folder", str(history), *GATE) == 3
    assert "other programs disturbed 30 times, and there is no other. Add quieter runs." in capsys.readouterr().err


def test_the_gate_does_not_pass_where_a_cell_failed_in_the_newest_run(measured, history, capsys):
    """A release that made it too slow to end passed every gate of a job with --allow-failures."""
    chosen = ("--folder", str(history), "--fail-if", "slower:60%")
    newest = history / "2026-10-30.jsonl"
    rewrite(newest, status="timeout", reason="no step within 300 s", step_s=[])
    assert call(measured, "series", *chosen) == 3
    assert capsys.readouterr().err == (
        "Measured before, and not in the newest run: 1 cell, such as here:eager gemm/check/float32/cpu: timeout: no "
        "step within 300 s\n"
    )
    # A budget that ended before the cell says nothing about it.
    rewrite(newest, status="not run", reason="")
    assert call(measured, "series", *chosen) == 0
    rewrite(newest, status="timeout")
    run = run_summary.read(newest)
    another = run.cells[0].model_copy(update={"column": "there:eager"})
    run_summary.write(history, RunSummary(run.facts.model_copy(update={"run": "2026-10-31"}), (another,)))
    assert call(measured, "series", *chosen, "--environment", "here") == 0, "the newest run does not have it any more"


def test_a_damaged_file_is_named_and_the_others_are_shown(measured, history, capsys):
    (history / "2026-10-05.jsonl").write_text("<<<<<<<")
    assert call(measured, "series", "--folder", str(history)) == 0
    said = capsys.readouterr()
    assert "29 runs" in said.out
    assert "2026-10-05.jsonl: is not the summary of a run" in said.err


def test_of_many_damaged_files_the_first_are_named_and_the_others_counted(measured, history, capsys):
    for n in range(1, 9):
        (history / f"2026-10-{n:02d}.jsonl").write_text("<<<<<<<")
    assert call(measured, "series", "--folder", str(history)) == 0
    said = capsys.readouterr().err
    assert said.count("Left out: ") == 5
    assert said.endswith("and 3 more that were left out: --all\n")
    assert call(measured, "series", "--folder", str(history), "--all") == 0
    assert capsys.readouterr().err.count("Left out: ") == 8
    for path in history.iterdir():
        path.write_text("<<<<<<<")
    assert call(measured, "series", "--folder", str(history)) == 2
    said = capsys.readouterr().err
    assert "and 25 more that were left out" in said
    assert "holds no run that can be read. Restore its files from a copy" in said


def test_an_empty_history_and_an_unknown_cell_say_what_to_do(measured, history, tmp_path_factory, capsys):
    assert call(measured, "series", "--folder", str(tmp_path_factory.mktemp("empty"))) == 2
    assert re.search(r"holds no runs\. Add one: nox -s series -- --add \S+ --folder \S+empty", capsys.readouterr().err)
    assert call(measured, "series", "--folder", str(measured / "matrix.toml")) == 2
    assert "matrix.toml is not a folder. Name that of a history." in capsys.readouterr().err
    assert call(measured, "series", "--folder", str(history), "--workload", "conv") == 2
    assert "unknown workload 'conv'" in capsys.readouterr().err


def test_a_trial_is_not_added(measured, tmp_path, capsys):
    shutil.copy(measured / "reports" / "small" / "records.jsonl", tmp_path)
    described = json.loads((measured / "reports" / "small" / "run.json").read_text())
    described["profile"]["trial"] = True
    (tmp_path / "run.json").write_text(json.dumps(described))
    assert call(measured, "series", "--folder", str(tmp_path / "history"), "--add", str(tmp_path)) == 2
    assert "its times mean nothing" in capsys.readouterr().err


def test_a_run_that_lost_lines_does_not_replace_the_file_that_has_them(measured, tmp_path, capsys):
    folder, history = tmp_path / "run", tmp_path / "history"
    shutil.copytree(measured / "reports" / "small", folder)
    add = ("series", "--folder", str(history), "--add", str(folder))
    assert call(measured, *add) == 0
    (path,) = history.iterdir()
    assert capsys.readouterr().out.startswith(f"Added {path}\n")
    whole = path.read_bytes()
    records = (folder / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text("<<<<<<<\n" + records.partition("\n")[2])
    assert call(measured, *add) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        f"{path} is not replaced, because it has more: of here:eager gemm/check/float32/cpu it has the times of" in said
    )
    assert "2 processes, and the run that is added has 1. Restore" in said
    assert "To replace the file all the same, remove it first." in said
    assert path.read_bytes() == whole
    (folder / "records.jsonl").write_text(records)
    path.write_bytes(b"<<<<<<<")
    assert call(measured, *add) == 0
    assert capsys.readouterr().out.startswith(f"Replaced {path}\n")
    assert path.read_bytes() == whole


def test_an_unfinished_run_is_not_added(measured, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(measured / "reports" / "small", folder)
    described = json.loads((folder / "run.json").read_text())
    assert described["finished"] is True
    (folder / "run.json").write_text(json.dumps({**described, "finished": False}))
    assert call(measured, "series", "--folder", str(tmp_path / "history"), "--add", str(folder)) == 2
    said = capsys.readouterr().err
    assert f"'first' in {folder} is not finished: it is under way, or was interrupted." in said
    assert "The command that measured it continues it" in said
    assert not (tmp_path / "history").exists()


def test_cells_with_several_series_are_named_with_the_run_and_what_changed(measured, history, capsys):
    for n in (10, 20):
        run = run_summary.read(history / f"2026-10-{n:02d}.jsonl")
        settings = [{**one, "threads": str(n)} for one in run.facts.settings]
        cells = [run.cells[0].model_copy(update={"column": f"{name}:eager"}) for name in ("here", "there")]
        run_summary.write(history, RunSummary(run.facts.model_copy(update={"settings": settings}), tuple(cells)))
    assert call(measured, "series", "--folder", str(history)) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Not compared with the runs before, because machine, settings or inputs changed:")
    assert lines[at + 1 : at + 6] == [
        "2026-10-20 03:17 UTC  here:eager gemm/check/float32/cpu and 1 more",
        "    setting threads 10 → 20",
        "2026-10-10 03:17 UTC  here:eager gemm/check/float32/cpu",
        "    setting threads 1 → 10",
        "",
    ]


def test_an_accepted_change_does_not_fail_the_gate(measured, history, capsys):
    own = ("series", "--folder", str(history))
    assert call(measured, *own, "--workload", "gemm", "--accept", 'rounding is right now, see "notes"', *GATE) == 0
    said = capsys.readouterr()
    assert f"Accepted in {history / 'accepted.toml'}: 1 cell that became slower." in said.out
    assert re.fullmatch(
        r"Accepted: here:eager gemm/check/float32/cpu: 2\d\.\d % slower \[.*\] since 2026-10-21 03:17 UTC: rounding is "
        r'right now, see "notes"\n',
        said.err,
    )
    assert call(measured, *own, *GATE) == 0
    assert '    accepted: rounding is right now, see "notes"' in capsys.readouterr().out.splitlines()
    assert call(measured, *own, "--accept", "again") == 2
    assert "Nothing was written" in capsys.readouterr().err


def test_a_change_after_the_accepted_one_fails_the_gate(measured, history, capsys):
    accepted_changes.add(history, Acceptance(run="2026-10-20", reason="before the change"))
    assert call(measured, "series", "--folder", str(history), *GATE) == 3
    accepted_changes.add(history, Acceptance(run="2026-10-30", reason="another cell", mode=["compile*"]))
    assert call(measured, "series", "--folder", str(history), *GATE) == 3
    accepted_changes.add(history, Acceptance(run="2026-10-21", reason="this one", mode=["e*", "x"], workload=["gemm"]))
    capsys.readouterr()
    assert call(measured, "series", "--folder", str(history), *GATE) == 0
    assert capsys.readouterr().err.endswith("since 2026-10-21 03:17 UTC: this one\n")
    text = (history / "accepted.toml").read_text()
    assert text.startswith("# Changes of speed that are accepted")
    assert text.count("#") == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[accepted]\n", "Correct it, or restore it"),
        ('[[accepted]]\nrun = "a"\n', "accepted.0.reason: Field required"),
        ('[[accepted]]\nrun = "a"\nreason = 3\n', "accepted.0.reason: Input should be a valid string"),
        ('[[accepted]]\nrun = "a"\nreason = "b"\nwhy = 1\n', "accepted.0.why: Extra inputs are not permitted"),
        ("accept = 1\n", "accept: Extra inputs are not permitted"),
    ],
)
def test_a_file_of_accepted_changes_that_is_wrong_is_refused(measured, history, capsys, text, complaint):
    (history / "accepted.toml").write_text(text)
    assert call(measured, "series", "--folder", str(history), *GATE) == 2
    said = capsys.readouterr().err
    assert str(history / "accepted.toml") in said
    assert complaint in said


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "\x1b[31m", "x" * 301])
def test_what_is_no_reason_is_refused(measured, history, capsys, reason):
    with pytest.raises(SystemExit, match="2"):
        call(measured, "series", "--folder", str(history), "--accept", reason)
    assert "a reason is a line of 1 to 300 printable characters" in capsys.readouterr().err


@given(
    reason=st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), min_size=1),
    patterns=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1), max_size=2),
)
def test_what_is_accepted_is_read_as_it_was_written(tmp_path_factory, reason, patterns):
    folder = tmp_path_factory.mktemp("history")
    wanted = [Acceptance(run="r", reason=reason, workload=patterns), Acceptance(run="s", reason="second")]
    for one in wanted:
        accepted_changes.add(folder, one)
    assert list(accepted_changes.read(folder)) == wanted
