"""Tests the command: stored traces are judged without measuring, real trials are measured, misuse is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bench.cell import Cell
from bench.host import matrix
from bench.host.__main__ import main
from bench.host.environments import Prepared
from bench.host.starter import Starter
from bench.host.twin import SUFFIX
from bench.host.validation import summary
from bench.host.validation.session import Validation, read_traces
from bench.host.validation.trial import Pair, Trace, Trial

ROOT = Path(__file__).resolve().parents[2]
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
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path


def test_stored_traces_are_judged_compressed_or_not(checkout, capsys):
    pairs = tuple(Pair(number, (100.0, 101.0 + number / 9), (150.0, 151.0)) for number in range(12))
    line = json.dumps(Trace(Trial(0, CELL, 0.05), 0.05, 12, (12,), pairs, 9.0).to_json()) + "\n"
    (checkout / "traces.jsonl").write_text(line)
    with gzip.open(checkout / "traces.jsonl.gz", "wt") as file:
        file.write(line)
    said = []
    for name in ("traces.jsonl", "traces.jsonl.gz"):
        assert main(["validate", "--traces", str(checkout / name)], root=checkout) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "5% more work" in said[0]


def test_traces_of_several_parts_are_judged_together(checkout, capsys):
    pairs = tuple(Pair(number, (100.0, 101.0), (100.0, 101.0)) for number in range(14))
    for number in (1, 2):
        trace = Trace(Trial(number, CELL, 0.0), 0.0, 14, (14,), pairs, 9.0)
        (checkout / f"{number}.jsonl").write_text(json.dumps(trace.to_json()) + "\n")
    files = [str(checkout / f"{number}.jsonl") for number in (1, 2)]
    assert main(["validate", "--traces", *files], root=checkout) == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "A/A" in line)
    assert row.split("|")[2].strip() == "2"


@pytest.mark.parametrize("part", ["2", "0/2", "3/2", "1/0", "a/b", "-1/2"])
def test_what_is_no_part_is_misuse(checkout, capsys, part):
    with pytest.raises(SystemExit) as ended:
        main(["validate", f"--part={part}"], root=checkout)
    assert ended.value.code == 2
    assert "for example 1/2" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"rubbish", b'{"version": 1}\n', b'{"version": 7}\n'])
def test_what_are_no_traces_is_misuse(checkout, capsys, content):
    (checkout / "traces.jsonl.gz").write_bytes(gzip.compress(content))
    assert main(["validate", "--traces", str(checkout / "traces.jsonl.gz")], root=checkout) == 2
    assert "no traces can be read" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_misuse(checkout, capsys):
    assert main(["validate", "--traces", str(checkout / "nowhere.gz")], root=checkout) == 2
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
    ("threads", "processors", "places"),
    [(1, 1, [(0,)]), (1, 2, [(1,), (0,)]), (2, 2, [(0, 1)]), (2, 8, [(6, 7), (4, 5)]), (4, 6, [(2, 3, 4, 5)])],
)
def test_workers_begin_beside_each_other_where_there_is_room(monkeypatch, tmp_path, threads, processors, places):
    cores = [[number] for number in range(processors)]
    monkeypatch.setattr("bench.host.processors.cores", lambda *_: cores)
    began = []
    monkeypatch.setattr(Starter, "start", lambda self, cell, label, layout: began.append((self.processors, label)))
    bench = Validation(tmp_path, matrix.load(ROOT / "matrix.toml"), {}, threads, Console(quiet=True)).bench
    twin = replace(CELL, environment=CELL.environment + SUFFIX)
    for number in range(2):
        for cell in (CELL, twin):
            bench._start(cell, number, 1, 7)
    first, last = places[0], places[-1]
    assert [where for where, _ in began] == [first, last, last, first]
    assert {label for _, label in began} == {"trial", "trial" + SUFFIX}
    assert bench.processors == places[0]


def test_workers_that_cannot_move_begin_where_they_are_measured(tmp_path):
    contained = Prepared("jax", "ok", manifest={"provider": "container"})
    study = matrix.load(ROOT / "matrix.toml")
    assert len(Validation(tmp_path, study, {"jax": contained}, 1, Console(quiet=True)).bench.places) == 1


@pytest.mark.real
def test_real_trials_are_measured_once_and_kept(checkout, capsys):
    arguments = ["validate", "--matrix", str(checkout / "matrix.toml"), "--same", "1", "--planted", "25:1"]
    code = main(arguments, root=checkout)
    first = capsys.readouterr().out
    assert "25% more work" in first
    traces = read_traces(checkout / "reports" / "validation" / "traces.jsonl")
    # Of identical cells one in a hundred may be called different, and the command must then say so.
    assert code == bool(summary.broken_promises(summary.kinds(traces)))
    assert sorted(trace.trial.slowdown for trace in traces) == [0.0, 0.25]
    assert all(len(trace.pairs) >= 12 and trace.reason is None for trace in traces)
    planted = max(traces, key=lambda trace: trace.trial.slowdown)
    assert planted.planted == pytest.approx(0.25, rel=0.1)
    ratios = [sum(pair.twin_ns) / sum(pair.cell_ns) for pair in planted.pairs]
    assert sorted(ratios)[len(ratios) // 2] > 1.1
    main([*arguments, "--part", "2/2"], root=checkout)
    assert "1 of 1 comparisons are there" in capsys.readouterr().out
    assert main(arguments, root=checkout) == code
    assert "2 of 2 comparisons are there" in capsys.readouterr().out
