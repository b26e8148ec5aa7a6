"""Tests the command: stored trials are judged without measuring, real trials are measured, misuse is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bench.cell import Cell
from bench.host.__main__ import main
from bench.host.environments import Prepared
from bench.host.executors.starter import Starter
from bench.host.study import study_file
from bench.host.study.twin import is_twin
from bench.host.validation import summary
from bench.host.validation.trial import Pair, Trial, TrialData
from bench.host.validation.validation import Validation, read_trials
from bench.host.workers.protocol import Ended

ROOT = Path(__file__).resolve().parents[3]
CELL = Cell("numpy", "numpy", "eager", "gemm", "tiny", "float32", "cpu", 1)
MATRIX = """
[study]
name = "none"
baseline = "absent:eager"
default = ["absent"]
profile = "check"

[environments.absent]
provider = "existing"
interpreter = "/nowhere/python"
framework = "numpy"
modes = ["eager"]

[workloads.gemm]

[profiles.check]
rounds = 1
samples = 1
sample_seconds = 0.001
sizes = ["check"]
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path


def test_stored_trials_are_judged_compressed_or_not(checkout, capsys):
    pairs = tuple(Pair(number, (100.0, 101.0 + number / 9), (150.0, 151.0)) for number in range(12))
    line = json.dumps(TrialData(Trial(0, CELL, 0.05), 0.05, 12, (12,), pairs, 9.0).to_json()) + "\n"
    (checkout / "traces.jsonl").write_text(line)
    with gzip.open(checkout / "traces.jsonl.gz", "wt") as file:
        file.write(line)
    said = []
    for name in ("traces.jsonl", "traces.jsonl.gz"):
        assert main(["validate", "--trials", str(checkout / name)], root=checkout) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "5% more work" in said[0]


def test_trials_of_several_parts_are_judged_together(checkout, capsys):
    pairs = tuple(Pair(number, (100.0, 101.0), (100.0, 101.0)) for number in range(14))
    for number in (1, 2):
        data = TrialData(Trial(number, CELL, 0.0), 0.0, 14, (14,), pairs, 9.0)
        (checkout / f"{number}.jsonl").write_text(json.dumps(data.to_json()) + "\n")
    files = [str(checkout / f"{number}.jsonl") for number in (1, 2)]
    assert main(["validate", "--trials", *files], root=checkout) == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "A/A" in line)
    assert row.split("|")[2].strip() == "2"


def test_trials_that_are_there_twice_are_no_rate(checkout, capsys):
    line = json.dumps(TrialData(Trial(0, CELL, 0.0), 0.0, 14, (14,), (), 9.0).to_json()) + "\n"
    (checkout / "traces.jsonl").write_text(line * 2)
    assert main(["validate", "--trials", str(checkout / "traces.jsonl")], root=checkout) == 2
    assert "more than once" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "slowdowns"), [(["same"], {0.0}), (["planted"], {0.25}), ([], {0.0, 0.25})])
def test_a_kind_of_trial_can_be_measured_by_itself(checkout, monkeypatch, options, slowdowns):
    """The others keep their numbers, so that a later command measures the rest of the same plan."""
    wanted = []
    monkeypatch.setattr(Validation, "measure", lambda self, trials, fresh: wanted.extend(trials) or [])
    arguments = ["validate", "--matrix", str(checkout / "matrix.toml"), "--same", "3", "--planted", "25:3"]
    main([*arguments, *(["--only", *options] if options else [])], root=checkout)
    assert {trial.slowdown for trial in wanted} == slowdowns
    assert len({trial.number for trial in wanted}) == len(wanted) == 3 * len(slowdowns)


def test_comparisons_can_be_of_the_environments_alone(tmp_path):
    ready = Prepared("jax", "ok", command=("/nowhere/python",))
    validation = Validation(tmp_path, study_file.load(ROOT / "matrix.toml"), {"jax": ready}, 1, Console(quiet=True))
    assert {trial.cell.environment for trial in validation.trials(20, {}, with_numpy=False)} == {"jax"}
    assert {trial.cell.environment for trial in validation.trials(20, {})} == {"numpy", "jax"}


def test_comparisons_without_any_framework_are_misuse(checkout, capsys):
    arguments = ["validate", "--matrix", str(checkout / "matrix.toml"), "--no-numpy"]
    assert main(arguments, root=checkout) == 2
    assert "none of the environments has a mode" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["2", "0/2", "3/2", "1/0", "a/b", "-1/2"])
def test_what_is_no_part_is_misuse(checkout, capsys, part):
    with pytest.raises(SystemExit) as ended:
        main(["validate", f"--part={part}"], root=checkout)
    assert ended.value.code == 2
    assert "for example 1/2" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["x", "-1", "1.5"])
def test_what_is_no_number_of_comparisons_is_misuse(checkout, capsys, count):
    with pytest.raises(SystemExit) as ended:
        main(["validate", f"--same={count}"], root=checkout)
    assert ended.value.code == 2
    assert f"argument --same: '{count}' is not a number of comparisons, such as 40" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"rubbish", b'{"version": 1}\n', b'{"version": 7}\n'])
def test_what_are_no_trials_is_misuse(checkout, capsys, content):
    (checkout / "traces.jsonl.gz").write_bytes(gzip.compress(content))
    assert main(["validate", "--trials", str(checkout / "traces.jsonl.gz")], root=checkout) == 2
    assert "no trial data can be read" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_misuse(checkout, capsys):
    assert main(["validate", "--trials", str(checkout / "nowhere.gz")], root=checkout) == 2
    assert "nowhere.gz" in capsys.readouterr().err


@pytest.mark.parametrize("planted", ["2", "x:3", "2:0", "0:9", "200:1", "2:-1"])
def test_what_plants_nothing_is_misuse(checkout, planted):
    with pytest.raises(SystemExit) as ended:
        main(["validate", "--planted", planted], root=checkout)
    assert ended.value.code == 2


def test_an_unknown_environment_is_misuse(checkout, capsys):
    arguments = ["validate", "--matrix", str(checkout / "matrix.toml"), "--environment", "absnt"]
    assert main(arguments, root=checkout) == 2
    assert "absent" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("slowdown", "began"), [(0.02, [(1,), (0,), (0,), (1,)] * 7), (0.0, [(1,)] * 28)], ids=["planted", "same"]
)
def test_workers_of_planted_trials_begin_beside_each_other(monkeypatch, tmp_path, slowdown, began):
    """Identical cells start one after the other, as in a study."""
    monkeypatch.setattr("bench.host.machine.processors.cores", lambda *_: [[0], [1]])
    found = []

    def start(self, cell, label, *, processors, layout):
        found.append((is_twin(cell), processors, label))
        raise Ended("failed", "start", "no")

    monkeypatch.setattr(Starter, "start", start)
    # Parents import NumPy, and no worker is forked from one.
    monkeypatch.setattr("bench.host.executors.parents.Parents.ready", lambda *_: None)
    monkeypatch.setattr("bench.host.storage.references.References.ensure", lambda *_: tmp_path)
    monkeypatch.setattr("bench.host.measuring.order.is_given_up", lambda records: False)
    monkeypatch.setattr("bench.host.executors.turns.start_order", lambda *_: [0, 1])
    validation = Validation(tmp_path, study_file.load(ROOT / "matrix.toml"), {}, 1, Console(quiet=True))
    replace(validation.trial_measurement, looks=(14,)).measure(Trial(1, CELL, slowdown))
    assert [where for _, where, _ in found] == began
    assert {(twin, label) for twin, _, label in found} == {(False, "trial"), (True, "trial")}


def test_workers_that_cannot_move_begin_where_they_are_measured(tmp_path):
    contained = Prepared("jax", "ok", manifest={"provider": "container"})
    study = study_file.load(ROOT / "matrix.toml")
    jobs = []

    class Recorder:
        def run(self, job, emit):
            jobs.append(job)

        def close(self):
            pass

    for prepared in ({}, {"jax": contained}):
        validation = Validation(tmp_path, study, prepared, 1, Console(quiet=True))
        trials = replace(validation.trial_measurement, looks=(1,), executor=Recorder())
        for slowdown in (0.02, 0.0):
            trials.measure(Trial(1, CELL, slowdown))
    assert [job.at_once for job in jobs] == [True, False, False, False]


@pytest.mark.long
@pytest.mark.real
def test_real_trials_are_measured_once_and_kept(checkout, capsys):
    arguments = ["validate", "--matrix", str(checkout / "matrix.toml"), "--same", "1", "--planted", "25:1"]
    code = main(arguments, root=checkout)
    first = capsys.readouterr().out
    assert "25% more work" in first
    stored = read_trials(checkout / "reports" / "validation" / "traces.jsonl")
    # Of identical cells one in a hundred may be called different, and the command must then say so.
    assert code == bool(summary.broken_promises(summary.group_trials(stored)))
    assert sorted(data.trial.slowdown for data in stored) == [0.0, 0.25]
    assert all(len(data.pairs) >= 12 and data.reason is None for data in stored)
    planted = max(stored, key=lambda data: data.trial.slowdown)
    assert planted.planted == pytest.approx(0.25, rel=0.1)
    ratios = [sum(pair.twin_ns) / sum(pair.cell_ns) for pair in planted.pairs]
    assert sorted(ratios)[len(ratios) // 2] > 1.1
    main([*arguments, "--part", "2/2"], root=checkout)
    assert "1 of 1 comparisons are there" in capsys.readouterr().out
    assert main(arguments, root=checkout) == code
    assert "2 of 2 comparisons are there" in capsys.readouterr().out
