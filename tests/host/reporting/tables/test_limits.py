"""Tests that what a reader sees first stays short, whatever was measured: stored runs and hostile ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from study_reports import report_of

from bench.host.reporting import report
from bench.host.reporting.outputs import summary_latex, table_markdown
from bench.host.reporting.tables.speedups import LINES
from bench.host.reporting.words.text import MOST_WORDS
from bench.host.storage import journal, manifest
from bench.record import FAILED, MISMATCH, OUT_OF_MEMORY, TIMEOUT, UNSUPPORTED

RUNS = sorted((Path(__file__).parents[2] / "storage" / "runs").iterdir())
MARKS = "*≈?~^°-"


def words(text: str) -> int:
    return len(text.split())


def assert_short(made: report.Report, folder: Path) -> None:
    main = made.main
    assert len(main.remarks) <= LINES
    assert all(words(line) <= MOST_WORDS for line in (*main.sentences, *main.remarks)), main
    for row in main.groups[0].rows if main.groups else ():
        assert all(not entry.notes for entry in row)
        assert all(len(entry.text) - len(entry.text.rstrip(MARKS)) <= 2 for entry in row[1:])
    table_markdown.write(made, folder)
    first = (folder / table_markdown.NAME).read_text(encoding="utf-8").split("\n## ")[1]
    below = [line for line in first.split("|\n")[-1].split("\n\n") if line.strip()]
    assert len(below) - len(main.sentences) <= LINES
    assert all(words(line) <= MOST_WORDS for line in below)
    assert "<sup>" not in first
    summary_latex.write(made, folder)
    text = (folder / summary_latex.NAME).read_text(encoding="ascii")
    notes = re.findall(r"^% (?!\\caption|In a paper|It fits|There is|  )(.*(?:\n%   .*)*)", text, re.MULTILINE)
    assert len(notes) <= LINES
    assert all(words(note.replace("%", "")) <= MOST_WORDS for note in notes), notes


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_stored_runs_begin_with_a_short_table(tmp_path, folder):
    assert_short(report.make(journal.read(folder), manifest.read(folder)), tmp_path)


def test_a_run_in_which_everything_went_wrong_begins_with_a_short_table(tmp_path, long_study):
    endings = [FAILED, MISMATCH, OUT_OF_MEMORY, TIMEOUT, UNSUPPORTED]
    columns = sorted({cell.column for cell in long_study.cells})
    for column, status in zip(columns, endings, strict=False):
        if column != "torch1:eager":
            long_study.end(column, "dispatch", status, "build", "why " * 90)
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    long_study.disturb("torch2:eager", "mlp-train")
    for number in range(7):
        long_study.disturb("tf2:xla", "mlp-train", round=number)
    long_study.run.update(finished=False, changed_environments={f"environment-{n}": "x.py" for n in range(30)})
    assert_short(report_of(long_study), tmp_path)


def test_long_names_leave_the_table_short(tmp_path, long_study):
    def named(record):
        return replace(record, cell=replace(record.cell, workload=f"{record.cell.workload} " + "many words " * 20))

    long_study.records = [
        replace(named(r), settings={f"setting {n} of many words": r.cell.column for n in range(30)})
        for r in long_study.records
    ]
    long_study.run["planned"] = []
    assert_short(report_of(long_study), tmp_path)


def test_without_a_baseline_the_times_stand_first_and_stay_short(tmp_path, long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.exclude("torch1:eager", workload, "left out")
    made = report_of(long_study)
    assert made.speed_up_table is None
    assert made.main.name.endswith("-overview")
    assert any("no ratios" in remark.lower() for remark in made.main.remarks)
    assert_short(made, tmp_path)


def test_excluded_cells_and_environments_are_not_in_the_first_table(tmp_path, long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.exclude("jax:jit", workload, "left out")
    made = report_of(long_study)
    table_markdown.write(made, tmp_path)
    first = (tmp_path / table_markdown.NAME).read_text(encoding="utf-8").split("\n## ")[1]
    assert "excluded" not in first
    assert "numpy" not in first
    assert "JAX" in first
    assert "jit" not in first
