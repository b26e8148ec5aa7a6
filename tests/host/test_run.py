"""Tests a run with fake workers: the turns, the records of every kind of end, interruption and continuation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from bench.cell import Cell
from bench.host import journal, run, schedule
from bench.host.progress import Display, Estimate
from bench.host.workers import Ended
from bench.record import FAILED, TIMEOUT

A = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
B = replace(A, environment="jax", framework="jax", mode="jit")
C = replace(A, workload="mlp-train")


class Stage:
    """Everything that happens to all workers, in order, and what shall go wrong."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str]] = []
        self.ends: dict[tuple[str, str, int], Ended] = {}
        self.interrupt_after: int | None = None
        self.turns = 0
        self.running: set[str] = set()

    def start(self, cell: Cell, number: int, attempt: int) -> FakeWorker:
        self.log.append(("start", cell.column))
        return FakeWorker(self, cell, number)


class FakeWorker:
    def __init__(self, stage: Stage, cell: Cell, number: int) -> None:
        self._stage, self._cell, self._number = stage, cell, number
        self._request: dict[str, Any] = {}
        self._stage.running.add(cell.name)

    def send(self, **request: Any) -> None:
        self._request = request

    def receive(self, timeout_s: float) -> dict[str, Any]:
        do = self._request["do"]
        self._stage.log.append((do, self._cell.column))
        ended = self._stage.ends.get((self._cell.name, do, self._number))
        if ended:
            self._stage.running.discard(self._cell.name)
            raise ended
        if do != "import":
            assert self._stage.running == {self._cell.name}, "only the worker that measures may run"
        if do == "turn":
            self._stage.turns += 1
            if self._stage.interrupt_after is not None and self._stage.turns > self._stage.interrupt_after:
                raise KeyboardInterrupt
        return {
            "import": {"import_s": 1.0, "versions": {}},
            "prepare": {
                "first_call_s": 2.0, "check": {}, "warmup_ns": [9], "work": {}, "data": "seeded",
            },
            "turn": {"sample_steps": [3], "sample_ns": [1000 + self._number], "sample_cpu_ns": [900]},
            "finish": {"memory": {"peak_bytes": 7}, "settings": {"threads": 2}},
        }[do]  # fmt: skip

    def pause(self) -> None:
        self._stage.running.discard(self._cell.name)

    def resume(self) -> None:
        self._stage.running.add(self._cell.name)

    def close(self) -> None:
        self._stage.running.discard(self._cell.name)

    kill = close


PROFILE: Any = SimpleNamespace(rounds=2, samples=4, sample_seconds=0.01, timeout_s=5.0)


class Laboratory:
    """A run in a folder; ``go`` is one invocation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stage = Stage()
        self.filled: set[Cell] = set()
        self.reference: Path | Ended = folder / "reference.npz"

    def state(self, cell: Cell) -> str:
        return "warm" if cell in self.filled else "cold"

    def fill(self, cell: Cell) -> None:
        self.filled.add(cell)

    def ensure(self, cell: Cell, data: str | None) -> Path:
        if isinstance(self.reference, Ended):
            raise self.reference
        return self.reference

    def go(self, cells: list[Cell]) -> list[Any]:
        book = journal.Journal(self.folder)
        conditions = run.Conditions("r1", PROFILE, 1, (0, 1), {})
        under_way = run.Run(
            cells,
            conditions,
            book,
            self,
            self.stage.start,
            self,
            journal.read(self.folder),
        )
        estimate = Estimate(schedule.sittings(cells, PROFILE.rounds, 1))
        with (
            (self.folder / "out.txt").open("a") as out,
            Display(Console(file=out, width=200), 9, estimate) as display,
        ):
            under_way.measure(display, estimate)
        return journal.read(self.folder)


@pytest.fixture
def laboratory(tmp_path):
    return Laboratory(tmp_path)


def test_every_cell_gets_a_fresh_process_and_all_its_samples_in_every_round(laboratory):
    records = laboratory.go([A, B, C])
    assert len(records) == 6
    assert {(r.cell, r.round) for r in records} == {(cell, number) for cell in (A, B, C) for number in (0, 1)}
    for record in records:
        assert record.status == "ok"
        assert record.sample_turn == [0, 1, 2, 3]
        assert record.sample_ns == [1000 + record.round] * 4
        assert (record.first_call_s, record.sample_steps, record.memory) == (2.0, [3] * 4, {"peak_bytes": 7})
    assert [what for what, _ in laboratory.stage.log].count("start") == 6


def test_the_first_process_of_a_cell_is_cold_and_the_next_is_warm(laboratory):
    records = laboratory.go([A, B])
    assert {(r.round, r.first_call_cache) for r in records} == {(0, "cold"), (1, "warm")}


def test_cells_of_a_row_take_turns_sample_by_sample(laboratory):
    laboratory.go([A, B])
    turns = [column for what, column in laboratory.stage.log if what == "turn"]
    assert len(turns) == 16
    for first, second in zip(turns[::2], turns[1::2], strict=True):
        assert {first, second} == {A.column, B.column}


@pytest.mark.parametrize("when", ["import", "prepare", "turn", "finish"])
def test_an_end_at_any_request_becomes_a_record_and_the_others_go_on(laboratory, when):
    laboratory.stage.ends[A.name, when, 0] = Ended(TIMEOUT, "somewhere", "hangs")
    records = laboratory.go([A, B])
    bad = [r for r in records if r.status != "ok"]
    assert [(r.cell, r.round, r.status, r.stage, r.reason) for r in bad] == [(A, 0, "timeout", "somewhere", "hangs")]
    assert len([r for r in records if r.cell == B and r.sample_turn == [0, 1, 2, 3]]) == 2
    assert [r.status for r in records if r.cell == A and r.round == 1] == ["ok"]


def test_a_worker_that_cannot_start_becomes_a_record(laboratory, monkeypatch):
    def start(cell, number, attempt):
        raise Ended(FAILED, "start", "no such file")

    monkeypatch.setattr(laboratory.stage, "start", start)
    records = laboratory.go([A])
    assert {(r.status, r.stage, r.reason) for r in records} == {("failed", "start", "no such file")}


def test_a_reference_that_fails_is_told_for_every_cell(laboratory):
    laboratory.reference = Ended(FAILED, "start", "boom")
    records = laboratory.go([A, B])
    assert {r.reason for r in records} == {"the float64 reference could not be computed: boom"}
    assert {r.cell for r in records} == {A, B}


@pytest.mark.parametrize("after", range(0, 17))
def test_an_interrupted_run_loses_no_finished_turn_and_continues(laboratory, after):
    laboratory.stage.interrupt_after = after
    if after < 16:
        with pytest.raises(KeyboardInterrupt):
            laboratory.go([A, B])
    else:
        laboratory.go([A, B])
    assert sum(len(r.sample_ns) for r in journal.read(laboratory.folder)) == after
    assert laboratory.stage.running == set()
    laboratory.stage.interrupt_after = None
    records = laboratory.go([A, B])
    assert laboratory.stage.turns == 16 + (1 if after < 16 else 0)
    for cell in (A, B):
        for number in (0, 1):
            turns = [t for r in records if (r.cell, r.round) == (cell, number) for t in r.sample_turn]
            assert sorted(turns) == [0, 1, 2, 3]


def test_a_killed_run_continues_from_the_journal_alone(laboratory, monkeypatch):
    """A kill runs no ``finally``: only what was flushed is there."""
    laboratory.stage.interrupt_after = 5
    monkeypatch.setattr(journal.Journal, "append", lambda self, record: None)
    monkeypatch.setattr(journal.Journal, "forget", lambda self: None)
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A, B])
    monkeypatch.undo()
    assert sum(len(r.sample_ns) for r in journal.read(laboratory.folder)) == 5
    laboratory.stage.interrupt_after = None
    laboratory.go([A, B])
    assert laboratory.stage.turns == 17


def test_the_same_command_after_the_end_measures_nothing_more(laboratory):
    laboratory.go([A, B])
    laboratory.go([A, B])
    assert laboratory.stage.turns == 16


def test_plain_progress_names_the_cell_and_what_is_left(laboratory, monkeypatch):
    monkeypatch.setattr("bench.host.progress.PLAIN_S", 0.0)
    laboratory.go([A])
    lines = (laboratory.folder / "out.txt").read_text().splitlines()
    assert "round 1: importing torch1:eager gemm/tiny/float32/cpu" in lines[0]
    assert any("left: " in line and "measuring" in line for line in lines)


def test_records_are_json_a_line(laboratory):
    laboratory.go([A])
    for line in (laboratory.folder / journal.RECORDS).read_text().splitlines():
        assert json.loads(line)["schema"] == 1
