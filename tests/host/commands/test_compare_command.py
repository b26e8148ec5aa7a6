"""Tests the comparison of two runs from the command line: names, filters, output and exit codes."""

from __future__ import annotations

import json
import shutil

import pytest
from run_summaries import summary
from small_project import call, write

from bench.host.__main__ import main
from bench.host.analysis.run_comparison import CellChange, RunComparison
from bench.host.commands.compare import _gate, ratio_words
from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import Ratio
from bench.host.statistics.verdict import Verdict
from bench.host.storage import lines as lines_module
from bench.host.storage import stored_runs


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Measure a small study twice, with six rounds: enough processes for verdicts."""
    folder = write(tmp_path_factory.mktemp("project"), rounds=6)
    for name in ("first", "second"):
        assert call(folder, "run", "--name", name) == 0
    for path in folder.rglob("records.jsonl"):
        rewrite(path)
    return folder


def rewrite(path, factor=1.0):
    """Make times so many times as long, and forget what other programs did meanwhile."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["checksum"]
        line["sample_ns"] = [round(factor * ns) for ns in line["sample_ns"]]
        line.update(sample_wait_ns=[], disturbed={}, other_load=None)
    path.write_text("".join(lines_module.sealed(line) for line in lines))


def slower(measured, folder, factor):
    """Copy the second run as another one, which began in the same second, with times that are so many times as long."""
    shutil.copytree(measured / "reports" / "small", folder, ignore=shutil.ignore_patterns("history"))
    rewrite(folder / "records.jsonl", factor)
    described = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**described, "run": f"{described['run']}-slow"}))
    return str(folder)


def test_runs_are_compared_by_name_and_by_folder(measured, capsys):
    runs = {run.manifest.label: run.id for run in stored_runs.stored_runs(measured / "reports" / "small")}
    assert call(measured, "compare", "first", "second") == 0
    by_label = capsys.readouterr().out
    assert call(measured, "compare", runs["first"], "reports/small") == 0
    assert capsys.readouterr().out == by_label
    assert f"before  {runs['first']} 'first'" in by_label
    assert "Nothing that the runs record about machine, versions and settings changed." in by_label
    assert "did not take turns" in by_label
    assert "here:eager gemm/check" in by_label
    assert max(map(len, by_label.splitlines())) <= 80


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (Estimate(1.04, 1.01, 1.0712, 6), ("1.040", "[1.010, 1.071]")),
        (Estimate(0.00047, 0.0004, 0.00053, 6), ("0.00047", "[0.00040, 0.00053]")),
        (Estimate(217.0, None, None, 1), ("217.000", "")),
    ],
)
def test_a_ratio_has_three_decimals_and_two_digits_at_least(estimate, words):
    assert ratio_words(estimate) == words


def test_a_run_that_is_compared_with_itself_is_said_to_be_and_passes_no_gate(measured, capsys):
    """In a script with a wrong path it looked as if nothing had become slower."""
    assert call(measured, "compare", "second", "reports/small") == 0
    assert "These are the same run, which cannot differ from itself." in capsys.readouterr().out
    assert call(measured, "compare", "second", "reports/small", "--fail-if", "slower:5%") == 2
    assert "second and reports/small are the same run; name the one before it." in capsys.readouterr().err


def test_runs_in_the_wrong_order_are_told(measured, capsys):
    described = measured / "reports" / "small" / "run.json"
    before = described.read_text()
    described.write_text(json.dumps({**json.loads(before), "started": "2030-01-01 00:00:00"}))
    assert call(measured, "compare", "second", "first") == 0
    described.write_text(before)
    assert "The second run is the older one" in capsys.readouterr().out


def test_a_slowdown_fails_the_gate_with_exit_code_3(measured, tmp_path, capsys):
    after = slower(measured, tmp_path / "slow", 1000.0)
    assert call(measured, "compare", "second", after, "--fail-if", "slower:5%") == 3
    said = capsys.readouterr()
    assert "Slower by more than 5 %: here:eager gemm/check/float32/cpu: 1000.000" in said.err
    assert "1 slower" in said.out
    assert call(measured, "compare", after, "second", "--fail-if", "slower:5%") == 0
    assert "1 faster" in capsys.readouterr().out


@pytest.mark.parametrize(("limit", "code"), [(0.01, 3), (0.05, 0)])
def test_what_is_the_same_within_2_percent_passes_a_smaller_limit_by_its_interval(capsys, limit, code):
    """With slower:1%, a cell that became slower by at least 1.2 % was the same, and passed."""
    run = summary()
    ratio = Ratio(Estimate(1.015, 1.013, 1.017, 10), 0.002, (1.012, 1.018))
    change = CellChange(run.cells[0], run.cells[0], ratio, Verdict.EQUIVALENT, unchanged=False)
    found = RunComparison(run, run, (), (change,), (), None, relative=False)
    assert _gate(found, limit) == code
    assert ("Not settled, so not within 1 %: 1 cell" in capsys.readouterr().err) == (code == 3)


def test_filters_show_a_part(measured, tmp_path, capsys):
    after = slower(measured, tmp_path / "slow", 1000.0)
    assert call(measured, "compare", "second", after, "--slower-than", "5000") == 0
    assert "No cell is to be shown." in capsys.readouterr().out
    assert call(measured, "compare", "second", after, "--workload", "gem*", "--mode", "eager") == 0
    assert "1 compared" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("second", "third"), "unknown run 'third'"),
        (("second", "first", "--workload", "conv*"), "--workload: unknown workload 'conv*'"),
        (("second", "matrix.toml"), "is not the summary of a run"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_remedy(measured, capsys, given, said):
    assert call(measured, "compare", *given) == 2
    assert said in capsys.readouterr().err


def test_a_trial_is_refused(measured, tmp_path, capsys):
    folder = tmp_path / "trial"
    shutil.copytree(measured / "reports" / "small", folder)
    described = json.loads((folder / "run.json").read_text())
    described["profile"]["trial"] = True
    (folder / "run.json").write_text(json.dumps(described))
    assert call(measured, "compare", "second", str(folder)) == 2
    assert "its times mean nothing" in capsys.readouterr().err


def test_folders_can_be_compared_without_a_study(measured, tmp_path):
    before = slower(measured, tmp_path / "a", 1.0)
    assert main(["compare", before, before], root=tmp_path) == 0
