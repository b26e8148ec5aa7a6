"""Tests the command that bisects releases: what it chooses, and what it refuses. Bisections: test_bisection_run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.__main__ import main
from bench.host.commands.bisect_report import report
from bench.host.environments import Prepared
from bench.host.environments.components import Component
from bench.host.measuring.bisection_run import Bisected, BisectionRun, Exchanged
from bench.host.measuring.pair_measurement import BudgetSpent
from bench.host.statistics.attribution import Part
from bench.host.statistics.bisection import Change, NoChange, Undecided
from bench.host.statistics.pairs import compare
from bench.host.study import study_file
from bench.record import OK

STUDY = """
[study]
name = "releases"
baseline = "torch-1.13.1:eager"
default = ["torch-1.13.1"]
profile = "brief"
threads = 1
[environments.torch]
framework = "torch"
versions = ["1.13.1", "2.0.1", "2.5.1"]
modes = ["eager", "compile"]
[environments.new]
framework = "torch"
versions = ["2.5.1"]
modes = ["eager"]
[environments.old]
framework = "torch"
versions = ["1.13.1", "2.0.1"]
modes = ["eager", "compile"]
[environments.jax]
framework = "jax"
python = "3.11"
requirements = ["jax==0.10.2"]
modes = ["jit"]
[workloads.gemm]
[workloads.mlp-train]
[profiles.brief]
rounds = 8
samples = 3
sample_seconds = 0.01
sizes = ["tiny"]
[profiles.check]
rounds = 1
samples = 1
sample_seconds = 0.001
sizes = ["tiny"]
trial = true
"""
NAMES = ("torch-1.13.1", "torch-2.0.1", "torch-2.5.1")
CELLS = [Cell(name, "torch", "eager", "gemm", "tiny", "float32", "cpu", 1) for name in NAMES]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "matrix.toml").write_text(STUDY)
    return tmp_path


def call(project, *arguments):
    return main(["bisect", *arguments, "--matrix", str(project / "matrix.toml")], root=project)


def test_a_dry_run_names_the_releases_in_order(project, capsys):
    assert call(project, "torch", "--workload", "gemm", "--mode", "eager", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "3 releases: torch-1.13.1, torch-2.0.1, torch-2.5.1" in out
    assert "eager gemm/tiny/float32/cpu" in out


def test_a_release_without_the_mode_is_left_out_with_its_reason(project, capsys):
    assert call(project, "torch", "--workload", "gemm", "--mode", "compile", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "Left out: torch-1.13.1: mode 'compile' needs PyTorch 2.0" in out
    assert "2 releases: torch-2.0.1, torch-2.5.1" in out


def test_a_dry_run_names_an_interpreter_that_is_missing(project, capsys):
    chosen = ("torch", "--workload", "gemm", "--mode", "eager", "--dry-run")
    assert call(project, *chosen, "--interpreter", "torch-2.0.1=/nope") == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "1 cell of torch-2.0.1 will be unsupported: the interpreter '/nope' does not exist or cannot be executed."
    ]
    assert call(project, *chosen, "--interpreter", "torch-9=/nope") == 2
    assert "--interpreter: unknown environment 'torch-9'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("torch",), "A bisection has one workload and one mode; chosen are 4: eager gemm/tiny"),
        (("torch", "--mode", "eager"), "Choose with --workload"),
        (
            ("jax", "--workload", "gemm"),
            "unknown family 'jax'. Known: torch, new, old. A family is a table of environments with",
        ),
        (("torch", "--workload", "gem"), "--workload: unknown workload 'gem'"),
        (
            ("new", "--workload", "gemm", "--mode", "eager"),
            "new has 1 release that can be measured so; a bisection needs two. Add versions to its table in the study",
        ),
        (
            ("old", "--workload", "gemm", "--mode", "compile"),
            "old has 1 release that can be measured so; a bisection needs two. Left out: old-1.13.1: mode 'compile'",
        ),
        (
            ("torch", "--workload", "gemm", "--mode", "eager", "--profile", "check", "--dry-run"),
            "The profile 'check' makes trials, whose times mean nothing. Choose another one with --profile: brief.",
        ),
    ],
)
def test_what_cannot_be_bisected_is_refused_with_a_remedy(project, capsys, given, said):
    assert call(project, *given) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--baseline=best", "--figures", "--language=pt_BR", "--ratios=ratio", "--details"])
def test_options_of_a_table_are_refused_because_a_bisection_makes_none(project, capsys, option):
    with pytest.raises(SystemExit, match="2"):
        call(project, "torch", "--workload", "gemm", "--mode", "eager", "--dry-run", option)
    assert f"unrecognized arguments: {option}" in capsys.readouterr().err


class Measured:
    """Measures pairs without noise: each takes a second, and the releases from torch-2.5.1 on take 10 % longer."""

    def __init__(self, seconds=0.0):
        self.seconds, self.rounds = seconds, {}

    def stored(self, cell, reference, prepared):
        return np.empty(0)

    def measure(self, cell, reference, prepared, more, *, budget_s=None):
        key = cell.environment, reference.environment
        new = more if budget_s is None else min(more, math.ceil(budget_s))
        self.rounds[key] = self.rounds.get(key, 0) + new
        self.seconds += new
        level = 0.1 if NAMES[2] in key else 0.0
        ratios = level + 0.001 * np.sin(np.arange(self.rounds[key]))
        if new < more:
            raise BudgetSpent(ratios)
        return ratios, {}


def bisect_within(budget_s, project):
    measured = Measured()
    study = study_file.load(project / "matrix.toml")
    measured.study, built = study, []

    def prepare(environment):
        built.append(environment.name)
        return Prepared(environment.name, OK)

    def ignore(told):
        return None

    run = BisectionRun(measured, CELLS, prepare, ignore, ignore, budget_s=budget_s, clock=lambda: measured.seconds)
    return run.bisect(), measured, built


def test_a_bisection_ends_with_what_is_known_where_its_budget_is_spent(project):
    whole, measured, _ = bisect_within(None, project)
    assert (whole.end.release, whole.is_cut) == (2, False)
    needed = measured.seconds
    found, measured, built = bisect_within(3.0, project)
    assert measured.rounds == {("torch-2.5.1", "torch-1.13.1"): 3}
    assert sorted(built) == ["torch-1.13.1", "torch-2.5.1"]
    first, *rest = report(found, CELLS)
    assert first == "eager gemm/tiny/float32/cpu: open: whether torch-2.5.1 is slower than torch-1.13.1"
    assert "  The budget is spent before the end. The same command continues." in rest
    found, measured, _ = bisect_within(needed - 1, project)
    first, *rest = report(found, CELLS)
    assert measured.seconds == needed - 1
    assert first.endswith(": slower after torch-2.0.1 and at the latest with torch-2.5.1")
    found, measured, _ = bisect_within(needed, project)
    assert (found.end, found.is_cut, measured.seconds) == (whole.end, False, needed)


def bisected(end, **values):
    pairs = {("torch-2.5.1", "torch-1.13.1"): np.full(9, 0.05) + np.linspace(-0.01, 0.01, 9)}
    return Bisected(NAMES, end, {}, pairs, **values)


def test_the_sentence_names_size_release_and_causes():
    ratio = compare(np.log(1.041) + np.linspace(-0.01, 0.01, 11))
    parts = [
        Exchanged(Component(name, {}, {}), part, reason)
        for name, part, reason in (
            ("Python", Part.NOT_IT, ""),
            ("NumPy", Part.NOT_IT, ""),
            ("compiler", Part.UNCLEAR, ""),
            ("CUDA", None, "the release before has none of it"),
        )
    ]
    first, *rest = report(bisected(Change(2, ratio), parts=tuple(parts)), CELLS)
    assert first.startswith("eager gemm/tiny/float32/cpu: 4.1 % slower [3.")
    assert "since torch-2.5.1 (against torch-2.0.1); not Python, not NumPy; " in first
    assert first.endswith("; in part or perhaps compiler; inseparable: CUDA")
    assert any("cannot be exchanged alone: the release before has none of it" in line for line in rest)


def test_what_was_found_fits_a_terminal_of_60_letters(project, monkeypatch, capsys):
    monkeypatch.setattr("bench.host.commands.bisect.measure", lambda *_arguments: bisected(Undecided(0, 2)))
    monkeypatch.setenv("COLUMNS", "60")
    assert call(project, "torch", "--workload", "gemm", "--mode", "eager") == 0
    out = capsys.readouterr().out
    assert "slower after torch-1.13.1 and at the latest with torch-2.5.1" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 60


def test_the_sentence_says_what_is_not_known():
    ratio = compare(np.linspace(-0.01, 0.012, 11))
    lines = list(report(bisected(NoChange(ratio, settled=False)), CELLS))
    assert "open: whether torch-2.5.1 is slower than torch-1.13.1: " in lines[0]
    assert any("leave it open" in line for line in lines)
    lines = list(report(bisected(NoChange(ratio, settled=True)), CELLS))
    assert "torch-2.5.1 is not slower than torch-1.13.1: " in lines[0]
    assert not any("leave it open" in line for line in lines)
    first, *_ = report(bisected(Undecided(0, 2)), CELLS)
    assert "slower after torch-1.13.1 and at the latest with torch-2.5.1" in first
    assert "fewer than two releases" in next(report(Bisected((), Undecided(0, 0), {"torch-2.0.1": "no"}, {}), CELLS))


def test_a_long_reason_ends_with_a_whole_word():
    why = "failed: no solution: " + "your project depends on it, " * 20
    found = Bisected(NAMES[:2], Undecided(0, 1), {NAMES[2]: why}, {})
    (line,) = [line for line in report(found, CELLS) if NAMES[2] in line and "not measured" in line]
    assert line.endswith(("your …", "project …", "depends …", "on …", "it, …"))
    assert len(line) < 250
