"""Attacks through output: a worker that prints without end, and names and reasons that steer what reads a table."""

from __future__ import annotations

import csv as standard
import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.cell import Cell
from bench.host.environments.variables import of_process
from bench.host.reporting import outputs, report
from bench.host.reporting.renderers import csv
from bench.host.storage import journal, manifest
from bench.host.workers import log_limit
from bench.host.workers.forked_worker import ForkedWorker
from bench.host.workers.worker_process import WorkerProcess

ROOT = Path(__file__).resolve().parents[2]
RUN = Path(__file__).resolve().parents[1] / "host" / "storage" / "runs" / "schema-2"
#: Prints six times the limit, in lines with a number.
PRINTER = """
import json, sys, time
sys.stdout.write(json.dumps({{"event": "started", "python": "3"}}) + "\\n"); sys.stdout.flush()
for number in range({lines}):
    sys.stderr.write("%09d\\n" % number)
    if number % 1000 == 0:
        time.sleep(0.002)
sys.stderr.flush()
sys.stdin.readline()
time.sleep(0.5)  # The log is cut meanwhile; what is written at that very moment may be lost.
sys.stderr.write("the end\\n"); sys.stderr.flush()
sys.stdout.write(json.dumps({{"event": "moved"}}) + "\\n"); sys.stdout.flush()
sys.stdin.readline()
"""


@pytest.fixture
def small_logs(monkeypatch):
    monkeypatch.setattr(log_limit, "LIMIT_BYTES", 64_000)
    monkeypatch.setattr(log_limit, "HEAD_BYTES", 32_000)
    monkeypatch.setattr(log_limit, "TAIL_BYTES", 16_000)
    monkeypatch.setattr(log_limit, "INTERVAL_S", 0.05)


def test_a_worker_that_prints_without_end_keeps_a_log_with_head_and_tail(tmp_path, small_logs):
    script = tmp_path / "printer.py"
    script.write_text(PRINTER.format(lines=40_000))
    log = tmp_path / "w.log"
    worker = WorkerProcess(
        [sys.executable, "-S", str(script)], folder=ROOT, variables=of_process(1), log=log, processors=[]
    )
    try:
        worker.send(do="move", processors=[0])
        assert worker.receive(30)["event"] == "moved"
    finally:
        worker.kill()
    text = log.read_text()
    assert len(text) <= 64_000
    assert text.startswith("000000000\n000000001\n")
    assert text.endswith("the end\n")
    assert text.count("bytes are left out here") == 1
    assert "\0" not in text, "what was written after a cut left a gap"


def test_the_log_of_a_forked_worker_is_cut_as_it_is_written(tmp_path, small_logs):
    log = tmp_path / "w.log"
    worker = ForkedWorker(None, 1, log)  # type: ignore[arg-type]
    for number in range(2000):
        worker.take(b"l", b"%09d\n" % number * 10)
        assert log.stat().st_size <= 64_000
    worker.end_log()
    text = log.read_text()
    assert text.startswith("000000000\n")
    assert text.endswith("000001999\n")
    assert "bytes are left out here" in text


def test_a_log_that_is_cut_keeps_its_first_and_last_bytes(tmp_path, small_logs):
    log = tmp_path / "w.log"
    with log_limit.opened(log) as output:
        output.write(b"first" + b"-" * 100_000 + b"last")
        log_limit.limit(log)
        output.write(b"later")
    content = log.read_bytes()
    assert content.startswith(b"first-")
    assert content.endswith(b"lastlater")
    assert b"[52009 bytes are left out here" in content
    assert len(content) < 49_000


@pytest.mark.parametrize("moment", ["stat", "ftruncate"])
def test_what_a_worker_prints_while_its_log_is_cut_stays(tmp_path, small_logs, monkeypatch, moment):
    log = tmp_path / "w.log"
    call, said = getattr(os, moment), []

    def meanwhile(*given, **named):
        """Print something just after the size was read, or the log cut."""
        found = call(*given, **named)
        if not said and (moment == "ftruncate" or given[0] == log):
            said.append(output.write(b"meanwhile"))
        return found

    with log_limit.opened(log) as output:
        output.write(b"first" + b"-" * 100_000 + b"last")
        with monkeypatch.context() as patch:
            patch.setattr(os, moment, meanwhile)
            log_limit.limit(log)
        output.write(b"later")
    content = log.read_bytes()
    assert said
    assert content.startswith(b"first-")
    assert content.endswith(b"lastmeanwhilelater" if moment == "stat" else b"lastlater")
    assert content.count(b"meanwhile") == 1
    assert b"[%d bytes are left out here" % (52018 if moment == "stat" else 52009) in content


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2Jgone",
        "\u202eevil",
        "a\x00b",
        "\u2066x\u2069",
        "\x7f",
        "\x9b31m",
        "=cmd|' /C calc'!A0",
        "＝1+1",
        "\t=1",
        "-1",
    ],
)
def test_a_table_of_values_steers_nothing(text):
    quoted = str(csv.quote(text))
    assert not quoted.startswith(csv.FORMULA)
    assert not any(character in quoted for character in "\x1b\u202e\x00\u2066\u2069\x7f\x9b")


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "\u202egnp.exe", "=HYPERLINK(1)", "<script>alert(1)</script>"])
def test_names_of_a_forged_journal_are_harmless_in_every_text_output(tmp_path, evil):
    described = manifest.read(RUN)
    assert described is not None
    records = journal.read(RUN)[:4]
    records = [replace(one, status="failed", stage="build", reason=evil, sample_ns=[]) for one in records]
    cell = Cell(evil, "numpy", evil, "gemm", "check", "float32", "cpu", 1)
    records = [replace(records[0], cell=cell), *records]
    made = report.make(records, replace(described, planned=(cell, *described.planned)))
    written = made.write(tmp_path)
    assert written.refused == []
    for name in ("table.md", "table.tex", "details.csv", "summary.tex", "ranking.csv"):
        text = (tmp_path / name).read_text()
        assert not any(character in text for character in "\x1b\x07\u202e"), name
    for row in standard.reader(io.StringIO((tmp_path / "details.csv").read_text(), newline="")):
        assert not any(value.startswith("=") for value in row)
    assert "<script>alert" not in (tmp_path / "report.html").read_text()
    assert {output.name for output in outputs.BUILT_IN} >= {"details.csv", "table.md"}


def test_half_a_character_in_a_description_costs_no_file(tmp_path):
    described = manifest.read(RUN)
    assert described is not None
    half = {"here": {"environment": "\ud800", "note": ["\udfff"]}}
    made = report.make(journal.read(RUN)[:4], replace(described, environments=half, machine={"processor": "\ud800"}))
    written = made.write(tmp_path)
    assert written.refused == written.problems == []
    assert "?" in (tmp_path / "environments.json").read_text(encoding="utf-8")
