"""Attacks through a worker: whatever a worker sends, its cell fails with a reason and the study goes on."""

from __future__ import annotations

import inspect
import json
import random
import sys
import time
from pathlib import Path

import pytest
from laboratory import A, B, FakeWorker, laboratory

from bench.cell import Cell
from bench.host.environments.variables import of_process
from bench.host.executors.cell_process import CellProcess
from bench.host.executors.host_clock import HostClock, Unbelievable
from bench.host.executors.job import RowJob, RowRound
from bench.host.executors.program import ExecutorFailed, ProgramExecutor
from bench.host.storage import journal
from bench.host.workers import messages, requests
from bench.host.workers.protocol import Ended, receive
from bench.host.workers.shapes import Malformed
from bench.host.workers.worker_process import WorkerProcess
from bench.record import STAGES, STATUSES
from bench.worker.session import Session

__all__ = ["laboratory"]

ROOT = Path(__file__).resolve().parents[2]
CELL = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
FUZZED = 500
#: A message that takes as many seconds of the processor hangs.
HANG_S = 5.0
TURN = {"event": "turn", "sample_steps": [4], "sample_ns": [10_000], "sample_cpu_ns": [9_000], "sample_wait_ns": [0]}
GOOD = {
    "imported": {"event": "imported", "import_s": 0.1, "versions": {"python": "3.11.7"}},
    "prepared": {
        "event": "prepared",
        "first_call_s": 0.1,
        "check": {"out": {"error": 1e-9, "allowed": 1e-6}},
        "work": {"useful_flops": 1.0, "compulsory_bytes": 1.0, "flops_divisor": 1.0, "items": 1, "item": "step"},
        "data": None,
    },
    "calibrated": {"event": "calibrated", "warmup_ns": [1, 2]},
    "turn": TURN,
    "finished": {"event": "finished", "memory": {"peak_bytes": 7}, "settings": {"threads": 1}, "compilation": {}},
    "stage": {"event": "stage", "stage": "build"},
    "ended": {"event": "ended", "status": "failed", "stage": "build", "reason": "so"},
}
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
JUNK = (None, True, -1, 0, 1, 1 << 70, 1.5, float("nan"), float("inf"), "", "\x1b[31m", "x" * 200_000, [], {}, [[]])


class Line:
    """A worker that has sent some lines."""

    stage = "start"
    log = Path("/nowhere")

    def __init__(self, *lines: bytes) -> None:
        self._lines = list(lines)
        self.killed = False

    def line(self, deadline: float) -> bytes:
        return self._lines.pop(0) if self._lines else b""

    def find_end(self) -> Ended:
        return Ended("failed", self.stage, "the end")

    def close(self) -> None: ...

    def kill(self) -> None:
        self.killed = True


def bent(source: random.Random) -> bytes:
    """Make a message and damage it: a value, a key, or its bytes."""
    message = json.loads(json.dumps(source.choice(list(GOOD.values()))))
    table = message
    key = source.choice(list(table))
    while isinstance(table[key], dict) and table[key] and source.random() < 0.6:
        table = table[key]
        key = source.choice(list(table))
    way = source.randrange(4)
    if way == 0:
        del table[key]
    elif way == 1:
        table[key] = source.choice(JUNK)
    elif way == 2 and isinstance(table[key], list):
        table[key] = table[key] * source.choice((0, 2)) + [source.choice(JUNK)]
    else:
        text = bytearray(json.dumps(message).encode())
        text[source.randrange(len(text))] = source.randrange(256)
        return bytes(text).replace(b"\n", b"") + b"\n"
    return json.dumps(message).encode() + b"\n"


def test_the_good_messages_are_good():
    for message in GOOD.values():
        assert messages.parse(json.dumps(message).encode()) == message


@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_message_is_a_message_or_ends_the_worker_with_a_reason(seed):
    source = random.Random(seed)
    for _ in range(FUZZED // 5):
        line = bent(source)
        began = time.process_time()
        ended, answer = outcome(Line(line))
        assert time.process_time() - began < HANG_S
        if ended is not None:
            assert ended.status in STATUSES
            assert ended.stage in STAGES
            assert 0 < len(ended.reason) <= messages.LONGEST_REASON + 2
        else:
            # What was let through can be written as a part of a record.
            assert json.loads(json.dumps(answer, allow_nan=False)) == answer


def outcome(worker: Line) -> tuple[Ended | None, dict[str, object]]:
    try:
        return None, receive(worker, 1.0)
    except Ended as ended:
        return ended, {}


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"event":' * 50_000,
        b'{"event": "turn", "sample_ns": [' + b"9" * 5000 + b"]}",
        b'{"event": ["turn"]}',
        b'{"event": "ended", "status": "excellent", "stage": "build", "reason": "so"}',
        b'{"event": "ended", "status": "ok", "stage": "build", "reason": "so"}',
        b'{"event": "stage", "stage": "\\u001b[31mred"}',
        b'{"event": "stage", "stage": ["build"]}',
        b"x" * (messages.LONGEST_MESSAGE_BYTES + 1),
        b'{"event": "imported", "import_s": NaN, "versions": {}}',
        b'{"event": "imported", "import_s": 1e999, "versions": {}}',
    ],
)
def test_nonsense_ends_the_worker_and_says_so(line):
    worker = Line(line + b"\n")
    with pytest.raises(Ended, match="the worker sent") as caught:
        receive(worker, 1.0)
    assert (caught.value.status, worker.killed) == ("failed", True)
    assert len(caught.value.reason) < 600


def test_a_worker_cannot_live_for_ever_by_announcing_stages():
    stage = json.dumps(GOOD["stage"]).encode() + b"\n"
    with pytest.raises(Ended, match="more than 100 stages"):
        receive(Line(*[stage] * 1000), 1.0)


def test_a_long_reason_is_cut():
    ended = json.dumps({**GOOD["ended"], "reason": "x" * 1_000_000}).encode() + b"\n"
    with pytest.raises(Ended) as caught:
        receive(Line(ended), 1.0)
    assert len(caught.value.reason) < 5000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sample_ns": [1]}, "no clock can time"),
        ({"sample_steps": [1 << 20]}, "no clock can time"),
        ({"sample_ns": [-10_000]}, "greater than or equal"),
        ({"sample_ns": [True]}, "integer"),
        ({"sample_ns": [1e9]}, "integer"),
        ({"sample_ns": ["10000"]}, "integer"),
        ({"sample_ns": [10_000, 10_000]}, "different lengths"),
        ({"sample_ns": [], "sample_steps": [], "sample_cpu_ns": []}, "at least 1"),
        ({"sample_wait_ns": [0, 0]}, "different lengths"),
        ({"sample_steps": [0]}, "greater than or equal"),
        ({"sample_ns": [1 << 62]}, "less than"),
        ({"sample_ns": None}, "list"),
    ],
)
def test_forged_samples_are_refused(change, words):
    with pytest.raises(Malformed, match=words):
        messages.parse(json.dumps({**TURN, **change}).encode())


def clock_of(*readings_ms: float) -> HostClock:
    """A host's clock that says these milliseconds one after the other."""
    readings = iter(readings_ms)
    return HostClock(lambda: round(next(readings) * 1e6), processors=2)


def turn_of(clock: HostClock, sample_ms: float, cpu_ms: float = 0.0, clock_ns: int | None = None) -> None:
    clock.sent()
    clock.received()
    clock.verify({"sample_ns": [round(sample_ms * 1e6)], "sample_cpu_ns": [round(cpu_ms * 1e6)]}, 1, clock_ns)


def test_samples_must_fit_into_the_turn_that_the_host_saw():
    turn_of(clock_of(0, 100), 99)
    with pytest.raises(Unbelievable, match=r"timed 0\.11 s in a turn that took 0\.1 s"):
        turn_of(clock_of(0, 100), 110)
    with pytest.raises(Unbelievable, match="processors"):
        turn_of(clock_of(0, 100), 50, cpu_ms=400)


def test_a_clock_that_was_slowed_is_refused_and_an_honest_one_is_not():
    honest = clock_of(0, 50, 1000, 1050, 5000, 6000)
    for now_ms in (49, 1001, 5990):
        turn_of(honest, 10, clock_ns=round(now_ms * 1e6))
    slowed = clock_of(0, 50, 1000, 1050)
    turn_of(slowed, 1, clock_ns=4_900_000)
    with pytest.raises(Unbelievable, match="the worker's clock went"):
        turn_of(slowed, 1, clock_ns=100_100_000)


def test_the_host_asks_for_so_many_samples_and_gets_so_many():
    clock = clock_of(0, 1)
    clock.sent()
    clock.received()
    with pytest.raises(Unbelievable, match="2 samples were asked for, the worker sent 1"):
        clock.verify({"sample_ns": [1000], "sample_cpu_ns": [0]}, 2, None)


def measured(tmp_path: Path, do: str = "", attack: str = "pass"):
    """Measure a cell with a worker that attacks at a request; return the record."""
    script = tmp_path / "attacker.py"
    text = WORKER.format(good=json.dumps(GOOD), answers=messages.ANSWERS, do=do, attack=attack)
    script.write_text(text)
    process = CellProcess(CELL, 0, 1, 0, timeout_s=20.0, run="r")
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
        process.take_turn(1)
        process.take_turn(1)
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


@pytest.mark.parametrize("request_", [{"do": "turn"}, {"do": "turn", "samples": 0}, {"do": "move", "processors": []}])
def test_a_wrong_request_is_refused_before_it_is_sent(request_):
    with pytest.raises(Malformed, match="the message"):
        requests.encode(request_)


def test_every_request_of_a_worker_has_rules_and_its_answer_has():
    asked = {name.removeprefix("do_") for name in dir(Session) if name.startswith("do_")}
    assert asked == set(requests.REQUESTS) == set(messages.ANSWERS)
    assert set(messages.ANSWERS.values()) <= set(messages.MESSAGES)
    for name in asked:
        required = {
            parameter.name
            for parameter in list(inspect.signature(getattr(Session, f"do_{name}")).parameters.values())[1:]
            if parameter.default is inspect.Parameter.empty
        }
        fields = requests.REQUESTS[name].model_fields
        assert required == {key for key, field in fields.items() if field.is_required()}, name


class Said:
    """Keeps what a session sends."""

    def __init__(self) -> None:
        self.sent: list[dict[str, object]] = []

    def send(self, **message: object) -> None:
        self.sent.append(message)


@pytest.mark.parametrize("request_", [{}, {"do": "explode"}, {"do": "turn", "samples": 1, "loudly": True}])
def test_a_worker_answers_a_request_that_it_does_not_have(request_):
    said = Said()
    session = Session(said, None, None)  # type: ignore[arg-type]
    with pytest.raises((KeyError, AttributeError, TypeError)):
        session.answer(request_)
    assert [message["event"] for message in said.sent] == ["ended"]


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
    script.write_text(f"import sys; sys.stdin.read(); print({line!r}, flush=True); sys.stdin.read()")
    emitted: list[object] = []
    with pytest.raises(ExecutorFailed, match="which is not an event"):
        ProgramExecutor([sys.executable, "-S", str(script)]).run(laboratory_job(), emitted.append)
    assert emitted == []


def laboratory_job() -> RowJob:
    return RowJob("r", RowRound(0, CELL.row, (CELL,), 1, (0,)), {}, 1, 1, 0.01, 5.0, 1, 1)
