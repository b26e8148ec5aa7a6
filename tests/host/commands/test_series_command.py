"""Tests the series of runs from the command line: adding, showing, the gate, and what is left out."""

from __future__ import annotations

import json
import math
import re
import shutil

import pytest
from small_project import call, write

from bench.host.storage import run_summary
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


def test_a_change_is_shown_with_its_size_its_time_and_its_runs(measured, history, capsys):
    assert call(measured, "series", "--folder", str(history)) == 0
    out = capsys.readouterr().out
    assert "30 runs from 2026-10-01 to 2026-10-30; 1 cell in 1 series" in out
    (line,) = [line for line in out.splitlines() if line.startswith("2026-10-21 03:17  2")]
    assert "% slower [" in line
    assert line.endswith("here:eager gemm/check/float32/cpu")
    assert "20 runs before, 10 from it on" in out
    assert max(map(len, out.splitlines())) <= 90


def test_the_gate_fails_on_the_newest_change(measured, history, capsys):
    assert call(measured, "series", "--folder", str(history), "--fail-if", "slower:5%") == 3
    assert "Slower by more than 5 %: here:eager gemm/check" in capsys.readouterr().err
    assert call(measured, "series", "--folder", str(history), "--fail-if", "slower:60%") == 0
    assert call(measured, "series", "--folder", str(history), "--last", "9", "--fail-if", "slower:5%") == 0


def test_a_damaged_file_is_named_and_the_others_are_shown(measured, history, capsys):
    (history / "2026-10-05.jsonl").write_text("<<<<<<<")
    assert call(measured, "series", "--folder", str(history)) == 0
    said = capsys.readouterr()
    assert "29 runs" in said.out
    assert "2026-10-05.jsonl: is not the summary of a run" in said.err


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
