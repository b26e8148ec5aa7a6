"""Tests that a row job runs in another process, from its JSON, as it runs in this one; with real workers of NumPy."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.cell import Cell
from bench.host.executors.events import Finished, Progress, Ready, TurnTaken, Waited
from bench.host.executors.job import InstalledEnvironment, RowJob, RowRound
from bench.host.executors.local import LocalExecutor
from bench.host.executors.program import ExecutorFailed
from bench.host.executors.program_executor import ProgramExecutor
from bench.host.study.twin import SUFFIX
from bench.record import OK

ROOT = Path(__file__).resolve().parents[3]
CELL = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
TWIN = replace(CELL, environment="numpy" + SUFFIX)
JOB = RowJob(
    run="r1",
    row_round=RowRound(0, CELL.row, (CELL, TWIN), 1, (0, 0)),
    environments={"numpy": InstalledEnvironment((sys.executable,), {"lock_hash": "x"}, {"MALLOC_ARENA_MAX": "1"})},
    threads=1,
    samples=3,
    sample_seconds=0.001,
    timeout_s=60.0,
    data_seed=1,
    order_seed=2,
    memory_share=0.9,
    log_label="r1.a1",
)


def command(root: Path) -> list[str]:
    return [sys.executable, "-m", "bench.host.executors", "--root", str(root), "--logs", str(root)]


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with contextlib.closing(ProgramExecutor(command(tmp_path))) as executor:
        yield executor


def events_of(executor, job: RowJob = JOB) -> list:
    events: list = []
    executor.run(job, events.append)
    return events


def shape(events: list) -> list[tuple]:
    """Describe the events without what differs from run to run; a busy machine may repeat disturbed turns."""
    found: list[tuple] = []
    for event in events:
        if isinstance(event, Progress):
            found.append(("progress", event.stage, event.cell))
        elif isinstance(event, TurnTaken) and event.samples["sample_turn"][0] < JOB.samples:
            found.append(("turn", event.cell, event.round, event.attempt, tuple(event.samples)))
        elif isinstance(event, Ready | Finished):
            record = event.record
            about = (record.cell, record.status, record.reason, record.versions, record.work, sorted(record.settings))
            found.append((type(event).__name__, about))
    last = max(index for index, one in enumerate(found) if one[0] == "turn")
    return [one for index, one in enumerate(found) if index < last or one[:2] != ("progress", "measuring")]


def test_a_job_without_an_environment_of_a_cell_is_refused(tmp_path):
    with pytest.raises(ValueError, match="does not describe environment 'numpy' of cell numpy:eager gemm"):
        events_of(LocalExecutor(tmp_path, tmp_path), replace(JOB, environments={}))


@pytest.fixture
def local(tmp_path):
    """An executor of this process."""
    with contextlib.closing(LocalExecutor(tmp_path / "here", tmp_path / "here")) as executor:
        yield executor


def test_a_job_gives_the_same_kind_of_records_in_another_process(program, local, tmp_path):
    sent = events_of(program)
    here = events_of(local)
    assert shape(sent) == shape(here)
    records = [event.record for event in sent if isinstance(event, Finished)]
    assert {record.cell for record in records} == {CELL, TWIN}
    for record in records:
        assert (record.status, record.run, record.round, record.attempt) == (OK, "r1", 0, 1)
        assert record.sample_turn[:3] == [0, 1, 2]
        assert min(record.sample_ns) > 0
        assert record.settings["MALLOC_ARENA_MAX"] == "1"
        assert all(value["error"] <= value["allowed"] for value in record.check.values())
    assert isinstance(sent[-1], Waited)
    assert {path.name for path in (tmp_path / "logs").iterdir()} == {
        *(f"numpy{twin}-cpu-1.r1.a1.parent.log" for twin in ("", "-twin")),
        *(f"numpy{twin}-eager-gemm-check-float32-cpu.r1.a1.log" for twin in ("", "-twin")),
    }


def test_only_cells_that_were_drawn_are_checked_again_and_their_records_say_so(program):
    events = events_of(program, replace(JOB, checked_again=(TWIN.name,)))
    checked = {event.record.cell: event.record.checked_again for event in events if isinstance(event, Finished)}
    assert checked[CELL] is None
    assert checked[TWIN] is not None
    assert checked[TWIN] >= 1


def test_every_turn_is_an_event_before_the_record_is_finished(program):
    events = events_of(program)
    turns: dict[str, list[int]] = {}
    for event in events:
        if isinstance(event, TurnTaken):
            turns.setdefault(event.cell, []).extend(event.samples["sample_ns"])
        elif isinstance(event, Finished):
            assert turns[event.record.cell.name] == event.record.sample_ns


def told(turns: int) -> range:
    """Return the samples that records may have: a turn that ends as the interruption comes may not be told before."""
    return range(turns, turns + 2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_that_is_interrupted_writes_what_was_measured(tmp_path, number):
    job = replace(JOB, samples=100_000)
    with subprocess.Popen(command(tmp_path), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
        process.stdin.close()
        turns = 0
        finished = []
        for line in process.stdout:
            event = json.loads(line)
            turns += event["event"] == "turn"
            # The signal is sent again and again: only the first one counts.
            if turns >= 10:
                process.send_signal(number)
            if event["event"] == "finished":
                finished.append(event["record"])
    assert process.returncode == 130
    assert turns >= 10
    assert sum(len(record["sample_ns"]) for record in finished) in told(turns)
    assert {record["status"] for record in finished} == {OK}


def test_ctrl_c_here_ends_the_program_and_keeps_what_it_measured(program):
    events: list = []

    def emit(event):
        events.append(event)
        if sum(isinstance(one, TurnTaken) for one in events) == 10 and isinstance(event, TurnTaken):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.run(replace(JOB, samples=100_000), emit)
    taken = sum(isinstance(one, TurnTaken) for one in events)
    assert sum(len(one.record.sample_ns) for one in events if isinstance(one, Finished)) in told(taken)


@pytest.mark.parametrize("line", ["rubbish", "{}", '{"schema": 99}', "[" * 100_000], ids=range(4))
def test_what_is_no_job_is_misuse(tmp_path, line):
    done = subprocess.run(command(tmp_path), cwd=ROOT, input=line, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "row job" in done.stderr


#: The program on a machine with another processor.
ELSEWHERE = """import sys
from bench.host.machine import facts
facts.processor_model = lambda: "another"
from bench.host.executors.__main__ import main
sys.exit(main())
"""


def test_a_program_tells_the_machine_on_which_it_runs_its_jobs(tmp_path, monkeypatch, local, capfd):
    """Not the machine that asks: its facts, and its peaks, are not those of the cells."""
    monkeypatch.chdir(ROOT)
    with contextlib.closing(ProgramExecutor([sys.executable, "-c", ELSEWHERE, *command(tmp_path)[3:]])) as executor:
        told = executor.machine()
        assert told == {**local.machine(), "processor": "another"}
        assert isinstance(events_of(executor)[-1], Waited)
        assert executor.machine() == told, "between jobs"
    with contextlib.closing(ProgramExecutor(command(tmp_path))) as executor:
        assert executor.machine() == local.machine()
    assert capfd.readouterr().err == "", "a program that is only asked has done its work"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "ended with exit code 0"),
        ('{"event": "waited", "seconds": 1.0}', "was asked for its machine and sent Waited"),
    ],
)
def test_a_program_that_does_not_tell_its_machine_is_an_error(answer, reason):
    words = [sys.executable, "-c", f"print({answer!r}) if {answer!r} else None"]
    with contextlib.closing(ProgramExecutor(words)) as executor, pytest.raises(ExecutorFailed, match=reason):
        executor.machine()


def test_a_program_that_breaks_down_is_an_error():
    with pytest.raises(ExecutorFailed, match="exit code 3"):
        events_of(ProgramExecutor([sys.executable, "-c", "import sys; sys.exit(3)"]))


def test_a_second_interruption_leaves_no_program(program):
    began: list[subprocess.Popen] = []

    def emit(event):
        began[:] = [lane._process for lane in program._program._lanes] or began
        if isinstance(event, TurnTaken):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.run(replace(JOB, samples=100_000), emit)
    assert [process.poll() in (130, -signal.SIGKILL) for process in began] == [True]


def test_the_rows_of_a_round_share_what_the_program_imports(program, tmp_path):
    other = replace(CELL, workload="mlp-train")
    for label, cell in (("first", CELL), ("second", other)):
        events = events_of(program, replace(JOB, row_round=RowRound(0, cell.row, (cell,), 1, (0,)), log_label=label))
        assert [event.record.status for event in events if isinstance(event, Finished)] == [OK]
    assert [path.name for path in (tmp_path / "logs").glob("*.parent.log")] == ["numpy-cpu-1.first.parent.log"]


#: The program on a file system that has no locks.
WITHOUT_LOCKS = """import sys
from bench.host.setup import staging
staging.lock = lambda descriptor, wait: False
from bench.host.executors.__main__ import main
sys.exit(main())
"""


def test_a_program_without_locks_says_so_where_no_event_is_expected(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(ROOT)
    words = [sys.executable, "-c", WITHOUT_LOCKS, "--root", str(tmp_path), "--logs", str(tmp_path)]
    with contextlib.closing(ProgramExecutor(words)) as executor:
        assert isinstance(events_of(executor)[-1], Waited)
    assert "this file system has no locks" in capfd.readouterr().err


@pytest.mark.parametrize("anew", [False, True])
def test_a_round_draws_places_for_libraries_where_the_job_says_so(tmp_path, monkeypatch, anew):
    drawn = []
    monkeypatch.setattr(LocalExecutor, "_resources", lambda self, job: pytest.fail("only the draw is of interest"))
    executor = LocalExecutor(tmp_path, tmp_path)
    monkeypatch.setattr(executor._placements, "draw", lambda round, *_, gpu: drawn.append((round, gpu)))
    with pytest.raises(pytest.fail.Exception):
        executor.run(replace(JOB, placed_anew=anew), lambda event: None)
    assert drawn == ([(("r1", 2, 0), False)] if anew else [])


def test_a_worker_is_bound_to_the_chosen_processors_of_the_machine(tmp_path):
    found = []
    job = replace(JOB, threads=len(os.sched_getaffinity(0)))
    executor = LocalExecutor(tmp_path, tmp_path)
    resources = executor._resources(job)
    found = resources.processors
    assert set(found) == os.sched_getaffinity(0)
    assert executor._resources(JOB).processors[0] in found
    assert resources.memory_limit_bytes == executor._resources(JOB).memory_limit_bytes
