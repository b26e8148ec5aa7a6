"""Tests the file of a run in a history: what is damaged is left out, and what is foreign is refused."""

from __future__ import annotations

import json

import pytest
from run_summaries import summary

from bench.host.refusal import Refused
from bench.host.storage import run_summary
from bench.host.storage.lines import NewerSchema


def test_a_conflict_of_git_costs_the_lines_in_conflict_only(tmp_path):
    path = run_summary.write(tmp_path, summary())
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "<<<<<<< ours", lines[1], "=======", lines[2], ">>>>>>> theirs"]) + "\n")
    found = run_summary.read(path)
    assert found.cells == summary().cells
    assert [line.split(": ")[0] for line in found.damaged] == [f"{path.name}:{number}" for number in (2, 4, 6)]


def test_a_newer_file_asks_for_an_update(tmp_path):
    path = run_summary.write(tmp_path, summary())
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(first), "schema": 2, "machine": []}), *rest]))
    with pytest.raises(NewerSchema, match="a newer benchmatrix wrote it"):
        run_summary.read(path)


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"schema": true}', '{"schema": 1}', '{"schema": 1, "run": 3}', "x", "{", '{"schema": 0}']
)
def test_a_file_that_is_no_summary_is_refused_with_its_name(tmp_path, text):
    path = tmp_path / "other.jsonl"
    path.write_text(text)
    with pytest.raises(Refused, match=r"other\.jsonl: is not the summary of a run"):
        run_summary.read(path)


@pytest.mark.parametrize(
    "values",
    [
        {"step_s": [-1.0]},
        {"step_s": [0.0]},
        {"step_s": [1e300]},
        {"step_s": ["1"]},
        {"threads": 1.5},
        {"log_ratios": [1e999]},
        {"log_ratios": [-1e4]},
    ],
)
def test_a_cell_with_an_impossible_value_is_left_out(tmp_path, values):
    path = run_summary.write(tmp_path, summary())
    cell = {**json.loads(path.read_text().splitlines()[1]), **values}
    path.write_text("".join(f"{line}\n" for line in (path.read_text().splitlines()[0], json.dumps(cell))))
    found = run_summary.read(path)
    assert not found.cells
    assert len(found.damaged) == 1


@pytest.mark.parametrize("run", ["../../elsewhere", "", "..", "a/b"])
def test_a_name_that_is_no_file_name_is_refused_and_writes_nothing(tmp_path, run):
    """The name comes from run.json; such a one wrote beside the history, or over another run without a name."""
    folder = tmp_path / "project" / "history"
    with pytest.raises(Refused, match=r'is not the name of a run\. Correct "run" in its run\.json'):
        run_summary.write(folder, summary(run))
    assert list(tmp_path.iterdir()) == []
