"""Tests that row jobs run side by side, in programs of their own, as they run alone; with workers of NumPy."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.cell import Cell
from bench.host.executors import lanes, program
from bench.host.executors.events import Event, Finished, Progress, TurnTaken, Waited, to_json
from bench.host.executors.job import InstalledEnvironment, RowJob, RowRound
from bench.host.executors.lanes import Lanes
from bench.host.executors.program import ExecutorFailed
from bench.host.machine import processors
from bench.host.storage.run_lock import exclusive
from bench.record import OK
from bench.worker import family

ROOT = Path(__file__).resolve().parents[3]
GEMM = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
CELLS = [replace(GEMM, workload=name) for name in ("gemm", "mlp-train", "branch-where")]


def job(cell: Cell, samples: int = 3) -> RowJob:
    return RowJob(
        run="r1",
        row_round=RowRound(0, cell.row, (cell,), 1, (0,)),
        environments={"numpy": InstalledEnvironment((sys.executable,), {"lock_hash": "x"})},
        threads=1,
        samples=samples,
        sample_seconds=0.001,
        timeout_s=60.0,
        data_seed=1,
        order_seed=2,
        memory_share=0.4,
        log_label="r1.a1",
    )


@pytest.fixture
def two(tmp_path):
    """Two lanes of a project that this process holds; both are on the same processor, as there may be one only."""
    place = (min(processors.available()),)
    with exclusive(tmp_path), contextlib.closing(Lanes([lanes.command(tmp_path, tmp_path, place)] * 2)) as made:
        yield made


def programs(of: Lanes) -> list[subprocess.Popen]:
    return [lane._process for lane in of._lanes]


def test_every_job_gives_the_record_that_it_gives_alone(two):
    events: list = []
    two.run(map(job, CELLS), events.append)
    records = {event.record.cell: event.record for event in events if isinstance(event, Finished)}
    assert set(records) == set(CELLS)
    for record in records.values():
        assert (record.status, record.reason) == (OK, None)
        assert record.sample_turn[:3] == [0, 1, 2]
        assert all(value["error"] <= value["allowed"] for value in record.check.values())
        assert record.checked_again


def test_a_lane_runs_job_after_job_with_the_same_parents_and_names_their_logs(two, tmp_path):
    events: list = []
    two.run(map(job, [*CELLS, *CELLS]), events.append)
    assert len([event for event in events if isinstance(event, Finished)]) == 6
    assert all(program.poll() is None for program in programs(two))
    parents = [path.name for path in (tmp_path / "logs").glob("*.parent.log")]
    assert parents == [f"numpy-cpu-1.r1.a1.p{min(processors.available())}.parent.log"]


def test_done_is_told_of_every_job_and_the_next_is_drawn_when_a_lane_is_free(two):
    drawn, over = [], []

    def jobs():
        for cell in CELLS:
            drawn.append(cell)
            yield job(cell)

    def done(job):
        assert len(drawn) - len(over) <= 2
        over.append(job.row_round.cells[0])

    two.run(jobs(), lambda event: None, done)
    assert set(over) == set(drawn) == set(CELLS)


def test_an_interruption_ends_the_programs_and_keeps_what_they_had_measured(two):
    events: list = []
    began: list = []
    interrupted: list = []

    def emit(event):
        events.append(event)
        began[:] = programs(two) or began
        if len({one.cell for one in events if isinstance(one, TurnTaken)}) == 2 and not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt

    long = [job(cell, samples=100_000) for cell in CELLS]
    with pytest.raises(KeyboardInterrupt):
        two.run(iter(long), emit)
    assert [program.poll() for program in began] == [130, 130]
    finished = [event.record for event in events if isinstance(event, Finished)]
    assert len(finished) == 2
    for record in finished:
        taken = [one for one in events if isinstance(one, TurnTaken) and one.cell == record.cell.name]
        # A turn that ends as the interruption comes is in the record, and is not told before.
        assert len(record.sample_ns) - len(taken) in (0, 1)
        assert taken


@pytest.mark.long
def test_a_second_interruption_leaves_no_program_either(two):
    began: list = []

    def emit(event):
        began[:] = programs(two) or began
        if isinstance(event, TurnTaken):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        two.run(iter([job(cell, samples=100_000) for cell in CELLS]), emit)
    assert len(began) == 2
    assert None not in [program.poll() for program in began]


def test_a_program_that_breaks_down_ends_the_others(tmp_path):
    place = (min(processors.available()),)
    broken = [sys.executable, "-c", "import sys; sys.exit(3)"]
    made = Lanes([lanes.command(tmp_path, tmp_path, place), broken])
    with pytest.raises(ExecutorFailed, match="exit code 3 before its jobs were done"):
        made.run(iter([job(GEMM, samples=100_000), job(GEMM)]), lambda event: None)
    assert made._lanes == []


def test_a_program_that_does_not_start_ends_the_others_and_says_why(tmp_path, monkeypatch):
    began, real = [], subprocess.Popen

    def refuse_the_second(*arguments, **options):
        if began:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        began.append(real(*arguments, **options))
        return began[0]

    monkeypatch.setattr(subprocess, "Popen", refuse_the_second)
    made = Lanes([lanes.command(tmp_path, tmp_path, (min(processors.available()),))] * 2)
    with pytest.raises(ExecutorFailed, match=r"^The system refused a process, .* raise the limits of processes"):
        made.run(iter([job(GEMM)]), print)
    assert began[0].poll() is not None


def test_lanes_end_also_where_a_shell_has_put_the_run_into_the_background(tmp_path, monkeypatch):
    place = (min(processors.available()),)
    broken = [sys.executable, "-c", "import sys; sys.exit(3)"]
    made = Lanes([lanes.command(tmp_path, tmp_path, place), broken])
    ends: list[int] = []
    close = program.Program.close

    def noted(lane) -> None:
        close(lane)
        ends.append(lane._process.returncode)

    monkeypatch.setattr(program.Program, "close", noted)
    # A lane that does not end by itself is killed after this time.
    monkeypatch.setattr(program, "CLOSING_S", 60.0)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(ExecutorFailed):
            made.run(iter([job(GEMM, samples=100_000), job(GEMM)]), lambda event: None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(ends) == 2
    assert 3 in ends
    assert -signal.SIGKILL not in ends


def test_an_interrupt_at_one_of_several_events_that_came_together_drops_none_of_the_others():
    told = [Progress("importing", "a"), Progress("preparing", "a"), Waited(1.0)]
    reading, writing = os.pipe()
    os.write(writing, b"".join(json.dumps(to_json(event)).encode() + b"\n" for event in told))
    os.close(writing)
    lane = object.__new__(program.Program)
    lane._command, lane._pending, lane._job = ("lane",), b"", job(GEMM)
    seen: list[Event] = []

    def emit(event: Event) -> None:
        seen.append(event)
        if len(seen) == 1:
            raise KeyboardInterrupt

    with os.fdopen(reading, "rb") as output:
        lane._process = SimpleNamespace(stdout=output, wait=lambda: 0)  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            lane.read(emit)
        assert seen == told[:1]
        assert lane.read(emit) is lane._job
        assert seen == told
        with pytest.raises(ExecutorFailed):
            lane.read(emit)


#: A run with one lane, whose job takes long; it says which process the lane is once the cell is measured.
HOST = """
import json, sys
from pathlib import Path
from bench.host.executors import lanes
from bench.host.executors.events import TurnTaken
from bench.host.executors.job import RowJob
root = Path({root!r})
made = lanes.Lanes([lanes.command(root, root, {place!r})])
def emit(event):
    if isinstance(event, TurnTaken):
        print(made._lanes[0]._process.pid, flush=True)
made.run(iter([RowJob.from_json(json.loads({job!r}))]), emit)
"""


def test_a_lane_dies_with_the_run_that_it_belongs_to(tmp_path):
    place = (min(processors.available()),)
    long = json.dumps(job(GEMM, samples=100_000).to_json())
    host = HOST.format(root=str(tmp_path), place=place, job=long)
    with subprocess.Popen([sys.executable, "-c", host], cwd=ROOT, stdout=subprocess.PIPE) as process:
        lane = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while family.state(lane) not in (None, "Z") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert family.state(lane) in (None, "Z")


def test_there_are_as_many_lanes_as_processors_and_memory_allow(monkeypatch):
    monkeypatch.setattr(processors, "shares", lambda threads: [(0,), (1,), (2,), (3,)])
    for free_gib, count in ((64, 4), (7, 3), (3, 0), (1, 0)):
        monkeypatch.setattr(lanes.facts, "available_bytes", lambda free_gib=free_gib: free_gib << 30)
        assert len(lanes.possible(1)) == count


def test_cells_of_a_gpu_get_lanes_at_a_size_that_is_never_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(lanes, "possible", lambda threads: [(0,), (1,), (2,), (3,)])
    monkeypatch.setattr(lanes.Gpus, "free_bytes", lambda self: 15 << 30)
    checked = replace(GEMM, device="gpu", size="check")
    assert len(lanes.of_trial(tmp_path, tmp_path, [GEMM])) == 4
    assert len(lanes.of_trial(tmp_path, tmp_path, [GEMM, checked])) == 3  # each with 4 GiB of the GPU
    assert lanes.of_trial(tmp_path, tmp_path, [checked, replace(checked, size="small")]) is None
    assert lanes.of_trial(tmp_path, tmp_path, []) is None


@pytest.mark.parametrize("free_gib", [0, 7])
def test_a_gpu_without_room_for_two_gets_no_lanes(monkeypatch, tmp_path, free_gib):
    monkeypatch.setattr(lanes, "possible", lambda threads: [(0,), (1,)])
    monkeypatch.setattr(lanes.Gpus, "free_bytes", lambda self: free_gib << 30)
    assert lanes.of_trial(tmp_path, tmp_path, [replace(GEMM, device="gpu", size="check")]) is None


def test_lanes_are_as_wide_as_the_threads_of_the_widest_cell(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(lanes, "possible", lambda threads: asked.append(threads) or [])
    assert lanes.of_trial(tmp_path, tmp_path, [GEMM, replace(GEMM, threads=3)]) is None
    assert asked == [3]
