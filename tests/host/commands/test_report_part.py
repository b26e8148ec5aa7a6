"""Tests reports of a part of a run: what they show, where they go, and what they refuse."""

from __future__ import annotations

import argparse
import csv
from dataclasses import replace

import pages
import pytest
from small_project import call

from bench.host.commands import report_part
from bench.host.refusal import Refused


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def cells_in(folder):
    with (folder / "results.csv").open(newline="", encoding="utf-8") as file:
        return {(row["environment"], row["workload"]) for row in csv.DictReader(file)}


def test_a_part_goes_beside_the_report_of_the_whole_run(finished, capsys):
    folder = finished / "reports" / "small"
    before = files_of(folder)
    assert call(finished, "report", "--environment", "here", "--workload", "g*") == 0
    after = files_of(folder)
    assert {path: after[path] for path in before} == before
    assert cells_in(folder / report_part.PART) == {("here", "gemm")}
    assert "A part of a run: 1 cell of it is not shown." in (folder / report_part.PART / "table.md").read_text()
    assert "reports/small/part/report.html" in capsys.readouterr().out


def test_a_part_or_the_whole_goes_where_it_is_told_to(finished):
    folder = finished / "reports" / "small"
    before = files_of(folder)
    assert call(finished, "report", "--mode", "eager", "--size", "check", "--to", str(finished / "paper" / "two")) == 0
    assert cells_in(finished / "paper" / "two") == {("here", "gemm"), ("again", "gemm")}
    assert "A part" not in (finished / "paper" / "two" / "table.md").read_text()
    assert call(finished, "report", "--to", str(finished / "elsewhere")) == 0
    assert cells_in(finished / "elsewhere") == {("here", "gemm"), ("again", "gemm")}
    assert files_of(folder) == before


def test_a_part_moves_to_the_history_with_its_run(finished):
    folder = finished / "reports" / "small"
    assert call(finished, "report", "--environment", "here") == 0
    assert call(finished, "run", "--workload", "gemm", "--fresh") == 0
    assert not (folder / report_part.PART).exists()
    (archived,) = (folder / "history").iterdir()
    assert cells_in(archived / report_part.PART) == {("here", "gemm")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--environment", "her"), "--environment: unknown environment 'her'"),
        (("--precision", "float61"), "--precision: unknown precision 'float61'"),
        (("--environment", "again"), "The baseline here:eager is not in this part. Choose it, too, or another one, "
         "such as --baseline again:eager"),
        (("--environment", "here", "--fail-if", "slower:5%"), "--fail-if judges a whole run"),
        (("--environment", "here", "--claims", "matrix.toml"), "--claims judges a whole run"),
        (("--environment", "here", "--to", "reports/small"), "is the folder of a run, whose report would be replaced"),
        (("--environment", "here", "--to", "reports/no/../small"), "is the folder of a run, whose report would be"),
        (("--to", "matrix.toml"), "--to: matrix.toml is a file, and a report is a folder. Name another folder."),
        (("--to", "matrix.toml/x"), "matrix.toml is a file, and a report is a folder. Name another folder."),
        (("--claims", "no.toml"), "--claims: no.toml is not a file. Name a study file with tables [claims.NAME]."),
        (("no",), "no holds no run. Name a folder with run.json and records; nox -s runs lists runs."),
        (("--device", "gpu"), "--device: unknown device 'gpu'"),
        (("--threads", "all"), "--threads: unknown threads 'all'. Known: 1."),
    ],
)  # fmt: skip
def test_what_is_no_part_is_refused_and_changes_nothing(finished, capsys, monkeypatch, words, message):
    monkeypatch.chdir(finished)
    before = files_of(finished / "reports")
    assert call(finished, "report", *words) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert files_of(finished / "reports") == before


def test_the_page_repeats_what_chose_the_run_the_cells_and_the_place(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(finished)
    words = ("reports/small", "--environment", "h*,again", "--size", "check", "--to", "paper/two")
    assert call(finished, "report", *words) == 0
    assert pages.data_of(finished / "paper" / "two" / "report.html")["run"]["chosenBy"] == [
        ["", "reports/small"],
        ["environment", "h*,again"],
        ["size", "check"],
        ["to", "paper/two"],
    ]
    # Nobody else has the folders of this machine.
    assert call(finished, "report", "--to", str(tmp_path / "elsewhere")) == 0
    assert pages.data_of(tmp_path / "elsewhere" / "report.html")["run"]["chosenBy"] == []


def test_an_empty_path_is_not_the_current_folder(finished, capsys, monkeypatch):
    empty = finished / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    with pytest.raises(SystemExit) as ended:
        call(finished, "report", "--to", "")
    assert ended.value.code == 2
    assert "argument --to: '' names no file or folder, as from a variable that is not set; give a path" in (
        capsys.readouterr().err
    )
    assert list(empty.iterdir()) == []


def part_with(study, **patterns):
    chosen = {**dict.fromkeys(report_part.OPTIONS, ()), **patterns}
    return report_part.of(argparse.Namespace(**chosen, fail_if=None, claims=None), study.manifest, study.records)


def test_devices_and_numbers_of_threads_choose_a_part(long_study):
    other = {"dispatch": {"threads": 1}, "mlp-train": {"device": "gpu"}}
    long_study.change(cell=lambda record: replace(record.cell, **other.get(record.cell.workload, {})))
    long_study.run["planned"] = [cell.to_json() for cell in {record.cell: None for record in long_study.records}]
    for patterns, workload in (({"threads": ["1"]}, "dispatch"), ({"device": ["g*"], "threads": ["2"]}, "mlp-train")):
        part = part_with(long_study, **patterns)
        assert {record.cell.workload for record in long_study.records if part.shown(record.cell)} == {workload}


def test_a_run_without_its_baseline_has_parts(long_study):
    long_study.run["study"]["baseline"] = "absent:eager"
    assert part_with(long_study, environment=["jax"]).hidden == sum(
        cell.environment != "jax" for cell in long_study.cells
    )


def test_patterns_that_fit_no_cell_together_are_refused(long_study):
    with pytest.raises(Refused, match="The run has no cell that all of these patterns fit"):
        part_with(long_study, environment=["jax"], mode=["xla"])
