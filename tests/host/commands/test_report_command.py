"""Tests reports that are made again from the records of a run, also from damaged ones."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
from small_project import call

from bench.host.storage import journal, worker_logs


def test_the_report_can_be_redone_from_the_records_alone(finished, capsys):
    folder = finished / "reports" / "small"
    before = (folder / "details.csv").read_text()
    (folder / "details.csv").unlink()
    assert call(finished, "report") == 0
    assert (folder / "details.csv").read_text() == before


def test_a_report_is_printed_as_if_the_width_were_unknown_where_columns_is_0(finished, monkeypatch, capsys):
    printed = []
    for width in ("80", "0"):
        monkeypatch.setenv("COLUMNS", width)
        assert call(finished, "report") == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_page_that_is_made_again_keeps_the_logs_of_cells_without_a_time(finished):
    folder = finished / "reports" / "small"
    record, *others = journal.read(folder)
    log = worker_logs.path_of(folder, record.cell, worker_logs.label_of(record.round, record.attempt))
    log.parent.mkdir(exist_ok=True)
    log.write_text("last words of the worker\n")
    untimed = {name: [] for name in vars(record) if name.startswith("sample_")}
    (folder / "records.jsonl").unlink()
    ended = replace(record, status="failed", stage="build", reason="boom", **untimed)
    for one in (ended, *(other for other in others if other.cell != record.cell)):
        journal.Journal(folder).append(one)
    described = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**described, "recorded_lines": None}))
    assert call(finished, "report") == 0
    assert "last words of the worker" in (folder / "report.html").read_text()


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


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "cut at the end of a line"])
def test_a_finished_run_that_lost_its_records_keeps_its_report(finished, capsys, damage):
    folder = finished / "reports" / "small"
    path = folder / journal.RECORDS
    whole = path.read_bytes()
    path.unlink()
    if damage == "empty":
        path.write_bytes(b"")
    if damage == "cut":
        (folder / "records.jsonl.gz").write_bytes(gzip.compress(whole)[:-20])
    if damage == "cut at the end of a line":
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    capsys.readouterr()
    assert call(finished, "report") == 2
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith(f"{folder}/records.jsonl")
    assert line.endswith("run.json says that the run is finished. Restore the file from a copy.")
    assert said.out == ""
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    assert call(finished, "show") == 2
    assert line in capsys.readouterr().err
    assert call(finished, "runs") == 0
    assert "records damaged" in capsys.readouterr().out


def test_an_interrupted_run_whose_last_line_is_cut_is_reported(finished, capsys):
    folder = finished / "reports" / "small"
    path = folder / journal.RECORDS
    path.write_bytes(path.read_bytes()[:-40])
    described = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**described, "finished": False}))
    assert call(finished, "report") == 0
    assert "1 damaged line of the journal was left out. Partial" in capsys.readouterr().out


def test_a_file_is_no_folder_of_a_run(checkout, capsys):
    place = checkout / "matrix.toml"
    assert call(checkout, "report", str(place)) == 2
    expected = f"{place} is not a folder of a run. Name a folder with run.json and records.\n"
    assert capsys.readouterr().err == expected
