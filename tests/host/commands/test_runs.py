"""Tests that runs can be named, listed, shown again, kept and removed from the command line."""

from __future__ import annotations

import json
import webbrowser

import pytest
from small_project import call, write

from bench.cell import Cell
from bench.host.commands.runs import listing
from bench.host.refusal import Refused, harmless
from bench.host.storage import journal, manifest, stored_runs
from bench.host.storage.manifest import Manifest
from bench.host.storage.run_lock import exclusive
from bench.host.storage.stored_runs import StoredRun
from bench.record import FAILED, OK, UNSUPPORTED, Record


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Measure a small study twice: the run "first" is in the history, "second" in its place."""
    folder = write(tmp_path_factory.mktemp("project"))
    for name in ("first", "second"):
        assert call(folder, "run", "--name", name) == 0
    return folder


@pytest.fixture
def reports(measured):
    """Return the folder of the study's reports; what a test changes of the descriptions is undone."""
    folder = measured / "reports" / "small"
    before = {path: path.read_bytes() for path in folder.rglob("run.json")}
    yield folder
    for path, content in before.items():
        path.write_bytes(content)


def ids(folder):
    return {run.manifest.label: run.id for run in stored_runs.stored_runs(folder)}


def test_runs_are_listed_with_name_profile_cells_environments_and_place(measured, reports, capsys):
    assert call(measured, "runs") == 0
    # Tests beside this one may have disturbed it.
    head, *lines = [line for line in capsys.readouterr().out.splitlines() if "withheld" not in line]
    assert head.split() == ["run", "name", "profile", "cells", "measured"]
    for (label, place), line, below in zip(
        {"second": "reports/small", "first": "reports/small/history"}.items(), lines[::2], lines[1::2], strict=True
    ):
        assert line.split()[:5] == [ids(reports)[label], label, "brief", "1", "ok"]
        assert line.split()[-1] == "finished"
        assert below.split()[2:] == ["UTC", "here", place]
    assert max(map(len, [head, *lines])) <= 80


def test_the_cells_of_a_run_are_counted_by_their_last_record_with_those_that_others_disturbed(tmp_path):
    cells = [Cell("here", "numpy", mode, "gemm", "tiny", "float32", "cpu", 2) for mode in ("eager", "jit", "xla")]
    samples = {"sample_ns": [9], "sample_cpu_ns": [9], "sample_steps": [1], "sample_turn": [0]}
    loads = {0: (1.0, 1.0, 0.0), 1: (1.0, 0.0, 0.0)}
    records = [
        *(Record(cells[which], number, 1, OK, other_load=load, **samples) for which in loads for number, load in
          enumerate(loads[which])),
        Record(cells[1], 3, 1, FAILED, stage="start", reason="boom"),
        Record(cells[1], 4, 1, OK),
        Record(cells[2], 0, 1, UNSUPPORTED, stage="start", reason="none"),
    ]  # fmt: skip
    book = journal.Journal(tmp_path)
    for record in records:
        book.append(record)
    manifest.write(tmp_path, Manifest(run="20261101-101112-abcdef", finished=False))
    _head, line, _place, withheld = listing(stored_runs.stored_runs(tmp_path), tmp_path)
    assert "  2 ok  " in line
    assert withheld == "    1 of 2 times is withheld: other programs computed, too"
    # It was killed, or is under way: how long it measured is noted when it ends.
    assert line.split()[-2:] == ["-", "unfinished"]


def test_cells_whose_times_are_withheld_are_told_as_some_of_those_that_are_ok(tmp_path):
    """The list said "2 ok, 2 disturbed", which read as four cells, in a line that was too long for a terminal."""
    cells = [Cell("here", "numpy", mode, "gemm", "tiny", "float32", "cpu", 2) for mode in ("eager", "jit", "xla")]
    samples = {"sample_ns": [9], "sample_cpu_ns": [9], "sample_steps": [1], "sample_turn": [0], "other_load": 1.0}
    book = journal.Journal(tmp_path)
    for cell in cells:
        book.append(Record(cell, 0, 1, OK, **samples))
    book.append(Record(cells[2], 1, 1, FAILED, stage="start", reason="boom"))
    manifest.write(tmp_path, Manifest(run="20261101-101112-abcdef", finished=True))
    lines = list(listing(stored_runs.stored_runs(tmp_path), tmp_path))
    assert "  2 ok, 1 failed  " in lines[1]
    assert lines[3] == "    2 of 2 times are withheld: other programs computed, too"
    assert max(map(len, lines)) <= 80


def test_a_study_without_runs_says_how_to_measure(tmp_path, capsys):
    assert call(write(tmp_path), "runs") == 0
    assert "has no runs" in capsys.readouterr().out


def test_an_earlier_run_is_shown_again_by_its_name(measured, reports, capsys):
    history = reports / "history" / ids(reports)["first"]
    (history / "details.csv").unlink()
    latest = (reports / "details.csv").read_bytes()
    assert call(measured, "report", "--run", "first") == 0
    assert (history / "details.csv").is_file()
    assert (reports / "details.csv").read_bytes() == latest
    assert f"Page: reports/small/history/{history.name}/report.html" in capsys.readouterr().out
    assert call(measured, "query", "--run", "first", "select count(*) from results") == 0
    (history / "results.csv").unlink()
    capsys.readouterr()
    assert call(measured, "query", "--run", "first", "select 1") == 2
    study = measured / "matrix.toml"
    assert capsys.readouterr().err.endswith(
        f"results.csv does not exist. Write it from the records: nox -s report -- --matrix {study} --run first\n"
    )
    assert call(measured, "report", "--run", "first") == 0
    assert call(measured, "report", "--run", "frist") == 2
    assert "did you mean 'first'?" in capsys.readouterr().err


def test_the_place_of_the_results_and_of_the_run_before_is_said_first(measured, reports, tmp_path, capsys):
    assert call(measured, "run", "--dry-run") == 0
    run = ids(reports)["second"]
    assert f"The run there, {run} 'second', will be moved to reports/small/history/{run}." in capsys.readouterr().out
    path = reports / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "finished": False}))
    assert call(measured, "run", "--dry-run") == 0
    assert (
        f"The unfinished run there, {run} 'second', is continued if this command is the same, else"
        in capsys.readouterr().out
    )
    assert call(measured, "run", "--dry-run", "--fresh") == 0
    assert "will be moved to" in capsys.readouterr().out
    assert call(write(tmp_path), "run", "--dry-run") == 0
    assert capsys.readouterr().out.endswith("Results go to reports/small.\n")


def test_a_kept_run_lets_no_other_take_its_place(measured, reports, capsys):
    assert call(measured, "runs", "--keep", "second") == 0
    assert "kept" in capsys.readouterr().out
    before = journal.read(reports)
    for arguments in (["run"], ["run", "--fresh"], ["run", "--dry-run"]):
        assert call(measured, *arguments) == 2
        assert "which is kept there" in capsys.readouterr().err
    assert call(measured, "runs", "--remove", "second") == 2
    assert journal.read(reports) == before
    assert call(measured, "runs", "--release", "second") == 0
    assert call(measured, "run", "--dry-run") == 0


def test_a_run_is_renamed_and_its_name_taken_away(measured, reports, capsys):
    assert call(measured, "runs", "--label", "second", "paper 1") == 0
    assert set(ids(reports)) == {"first", "paper 1"}
    assert call(measured, "runs", "--label", "paper 1", "") == 0
    assert set(ids(reports)) == {"first", ""}
    assert call(measured, "runs", "--label", "first", "a/b") == 2
    assert "cannot name a run" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        *(("runs", option, "") for option in ("--keep", "--release", "--remove")),
        ("show", ""),
        ("compare", "", ""),
        ("series", "--add", ""),
        ("report", "--run", ""),
    ],
)
def test_an_empty_name_is_no_run(measured, words, capsys):
    """A script whose variable was not set got the list, and exit code 0."""
    assert call(measured, *words) == 2
    assert "unknown run ''" in capsys.readouterr().err


def test_a_name_that_is_refused_is_refused_before_measuring(measured):
    with pytest.raises(SystemExit) as refused:
        call(measured, "run", "--name", "../x")
    assert refused.value.code == 2


def test_runs_are_not_changed_while_another_one_is_under_way(measured, reports, capsys):
    with exclusive(measured):
        assert call(measured, "runs", "--keep", "second") == 2
        assert call(measured, "runs") == 0
    assert "another run is under way" in capsys.readouterr().err


def test_a_description_from_elsewhere_does_not_steer_the_terminal(measured, reports, capsys):
    path = reports / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "label": "\x1b[2J\nowned", "run": "\x9b31m"}))
    assert call(measured, "runs") == 0
    out = capsys.readouterr().out
    assert out == harmless(out)
    assert out.count("\n") <= 6


@pytest.mark.parametrize(("opens", "said"), [(True, "Opened file://"), (False, "No browser could be started here")])
def test_the_page_is_opened_or_its_address_is_said(measured, reports, capsys, monkeypatch, opens, said):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or opens)
    assert call(measured, "report", "--open") == 0
    assert opened == [(reports / "report.html").resolve().as_uri()]
    out = capsys.readouterr().out
    assert said in out
    assert opened[0] in out


@pytest.mark.parametrize("alone", [False, True])
def test_a_name_that_begins_the_id_of_another_run_is_refused(tmp_path, alone, monkeypatch):
    """``--remove`` deleted the run of that name, and not the one whose id was given in part."""
    runs = [
        StoredRun(tmp_path, Manifest(run="20261129-142043-aaaaaa", label="20261129-142119"), None),
        StoredRun(tmp_path, Manifest(run="20261129-142119-bbbbbb"), None),
    ]
    monkeypatch.setattr(stored_runs, "stored_runs", lambda folder: runs)
    with pytest.raises(
        Refused, match="'20261129-142119' may mean several runs: 20261129-142043-aaaaaa, 20261129-142119-b"
    ):
        stored_runs.find(tmp_path, "20261129-142119", alone=alone)
    assert stored_runs.find(tmp_path, "20261129-142119-b", alone=alone) == runs[1]


def test_of_several_runs_with_a_name_the_newest_is_read_and_none_removed(tmp_path, monkeypatch):
    runs = [StoredRun(tmp_path, Manifest(run=f"2026112{day}-142043-aaaaaa", label="nightly"), None) for day in (9, 8)]
    monkeypatch.setattr(stored_runs, "stored_runs", lambda folder: runs)
    assert stored_runs.find(tmp_path, "nightly") == runs[0]
    with pytest.raises(Refused, match="'nightly' may mean several runs"):
        stored_runs.find(tmp_path, "nightly", alone=True)
