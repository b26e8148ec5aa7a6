"""Attacks by a worker or another program: its cell fails with a reason, and the study goes on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from laboratory import A, B, FakeWorker, laboratory
from worker_messages import CELL, GOOD

from bench.host.environments.variables import of_process
from bench.host.executors.cell_process import CellProcess
from bench.host.executors.job import RowJob, RowRound
from bench.host.executors.program import ExecutorFailed
from bench.host.executors.program_executor import ProgramExecutor
from bench.host.storage import journal
from bench.host.workers import messages
from bench.host.workers.worker_process import WorkerProcess

ROOT = Path(__file__).resolve().parents[2]
__all__ = ["laboratory"]
#: A worker of a few lines: it answers well, but for the request that an attack names.
WORKER = """
import json, sys, time
good = json.loads({good!r})
answers = {answers!r}
def say(text):
    sys.stdout.write(text + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    do = json.loads(line)["do"]
    if do == {do!r}:
        {attack}
    time.sleep(0.002)
    say(json.dumps(good.get(answers[do], {{"event": answers[do]}})))
"""


def measured(tmp_path: Path, do: str = "", attack: str = "pass"):
    """Measure a cell with a worker that attacks at a request; return the record."""
    script = tmp_path / "attacker.py"
    text = WORKER.format(good=json.dumps(GOOD), answers=messages.ANSWERS, do=do, attack=attack)
    script.write_text(text)
    process = CellProcess(CELL, 0, 1, 0, timeout_s=60.0, run="r")
    worker = WorkerProcess(
        [sys.executable, "-S", str(script)],
        folder=ROOT,
        variables=of_process(1),
        log=tmp_path / "w.log",
        processors=[],
    )
    try:
        process.request_import(worker)
        process.await_import(alone=True)
        process.request_prepare(seed=1, reference="r.npz", data=None)
        process.await_prepare(alone=True, cache=None)
        process.calibrate(sample_s=0.01)
        process.take_turn()
        process.take_turn()
        process.request_finish()
        process.await_finish()
    finally:
        process.kill()
    return process.record


def test_the_worker_of_these_attacks_is_measured_when_it_does_not_attack(tmp_path):
    record = measured(tmp_path)
    assert (record.status, record.sample_ns) == ("ok", [10_000, 10_000])


@pytest.mark.parametrize(
    ("do", "attack"),
    [
        ("import", 'say("{}")'),
        ("import", 'say(json.dumps({"event": "imported"}))'),
        ("import", 'say(json.dumps({"event": "turn", "sample_ns": []}))'),
        ("prepare", 'say(json.dumps({"event": "prepared"}))'),
        ("prepare", 'say("[" * 100000)'),
        ("prepare", 'say(json.dumps({"event": "ended", "status": "excellent", "stage": "x", "reason": 1}))'),
        ("prepare", 'say(json.dumps(good["turn"]))'),
        ("turn", 'say(json.dumps(dict(good["turn"], sample_ns=[1])))'),
        ("turn", 'say(json.dumps(dict(good["turn"], sample_ns=[10**12])))'),
        ("turn", 'say(json.dumps(dict(good["turn"], sample_ns=[float("nan")])))'),
        ("turn", 'say(json.dumps(dict(good["turn"], sample_ns=[10**4] * 3)))'),
        ("turn", 'say(json.dumps({"event": "finished"}))'),
        ("turn", 'sys.stdout.write("x" * (5 << 20)); say("")'),
        ("finish", 'say(json.dumps({"event": "finished", "memory": {"peak_bytes": "much"}, "settings": []}))'),
        ("finish", 'say(json.dumps(dict(good["finished"], settings={"threads": float("inf")})))'),
    ],
)
def test_an_attack_is_a_failed_cell_with_a_reason_and_its_record_can_be_read(tmp_path, do, attack):
    record = measured(tmp_path, do, attack)
    assert record.status == "failed"
    assert record.reason
    assert len(record.reason) < 600
    book = journal.Journal(tmp_path / "run")
    book.append(record)
    assert journal.read(tmp_path / "run") == [record]


@pytest.mark.parametrize("sample_ns", [10_000, 40_000_000])
def test_an_answer_that_was_sent_ahead_fails_the_cell(tmp_path, sample_ns):
    """Two answers to one request: the second would be the answer to the next one, which the worker never measures."""
    attack = f'time.sleep(0.05); say(json.dumps(dict(good["turn"], sample_ns=[{sample_ns}])))'
    record = measured(tmp_path, "turn", attack)
    assert record.status == "failed"
    assert record.reason


def test_a_round_of_two_cells_goes_on_when_one_of_them_lies(laboratory):
    """The study goes on: the other cell of the row has all of its samples."""
    plain = FakeWorker.receive

    def receive_(self, timeout_s):
        answer = plain(self, timeout_s)
        if self._cell == A and answer["event"] == "turn":
            return {**answer, "sample_ns": [10**13]}
        return answer

    FakeWorker.receive = receive_
    try:
        records = laboratory.go([A, B])
    finally:
        FakeWorker.receive = plain
    assert {record.status for record in records if record.cell == A} == {"failed"}
    assert {(record.status, len(record.sample_ns)) for record in records if record.cell == B} == {("ok", 4)}


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[" * 100_000,
        '{"event": "turn"}',
        '{"event": "turn", "cell": "c", "round": 0, "attempt": 1, "samples": {"sample_ns": [1]}}',
        '{"event": "turn", "cell": "c", "round": 0, "attempt": 1, "samples": 3}',
        '{"event": "turn", "cell": "c", "round": 0, "attempt": 1, "samples": {"cell": "x"}}',
        '{"event": "progress", "stage": 1, "cell": []}',
        '{"event": "waited", "seconds": "1"}',
        '{"event": "finished", "record": 3}',
        '{"event": "finished", "record": {"schema": 2, "status": "excellent"}}',
    ],
)
def test_a_program_that_runs_jobs_elsewhere_is_not_believed_either(tmp_path, line):
    script = tmp_path / "program.py"
    script.write_text(f"import sys; sys.stdin.readline(); print({line!r}, flush=True); sys.stdin.read()")
    emitted: list[object] = []
    with pytest.raises(ExecutorFailed, match="which is not an event"):
        ProgramExecutor([sys.executable, "-S", str(script)]).run(laboratory_job(), emitted.append)
    assert emitted == []


def laboratory_job() -> RowJob:
    return RowJob("r", RowRound(0, CELL.row, (CELL,), 1, (0,)), {}, 1, 1, 0.01, 5.0, 1, 1)
