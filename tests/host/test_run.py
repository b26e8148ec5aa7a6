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
from bench.host import journal, run
from bench.host.progress import Display, Estimate
from bench.host.stops import Stops
from bench.host.workers import Ended
from bench.record import FAILED, SCHEMA_VERSION, TIMEOUT

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
        #: What the workers are told that they are.
        self.told: list[Cell] = []
        #: {(row, round, attempt): the seeds of the memory layouts of its workers}
        self.layouts: dict[tuple[str, int, int], list[int]] = {}
        #: {(cell's name, round, turn): nanoseconds of 1000 in which it waited for a processor}
        self.waits: dict[tuple[str, int, int], int] = {}
        self.running: set[str] = set()
        #: The requests that several workers may be busy with at the same time.
        self.shared = {"import"}

    def start(self, cell: Cell, number: int, attempt: int, layout: int) -> FakeWorker:
        self.layouts.setdefault((cell.row, number, attempt), []).append(layout)
        self.log.append(("start", cell.column))
        return FakeWorker(self, cell, number)


class Driver:
    """Tells after each turn who is on the GPU, and with how many bytes; the last answer is for all that follow."""

    def __init__(self, told: list[dict[int, int]]) -> None:
        self._told = told

    def process_bytes(self) -> dict[int, int]:
        return self._told.pop(0) if len(self._told) > 1 else dict(*self._told)


class FakeWorker:
    #: A number that no process has, so that no session is found for it.
    process_id = 1 << 30

    def __init__(self, stage: Stage, cell: Cell, number: int) -> None:
        self._stage, self._cell, self._number = stage, cell, number
        self._request: dict[str, Any] = {}
        self._turns = 0
        self._stage.running.add(cell.name)

    def send(self, **request: Any) -> None:
        self._request = request
        if request["do"] == "import":
            self._stage.told.append(Cell.from_json(request["cell"]))

    def receive(self, timeout_s: float) -> dict[str, Any]:
        do = self._request["do"]
        self._stage.log.append((do, self._cell.column))
        ended = self._stage.ends.get((self._cell.name, do, self._number))
        if ended:
            self._stage.running.discard(self._cell.name)
            raise ended
        if do not in self._stage.shared:
            assert self._stage.running == {self._cell.name}, "only the worker that measures may run"
        if do == "turn":
            self._stage.turns += 1
            if self._stage.interrupt_after is not None and self._stage.turns > self._stage.interrupt_after:
                raise KeyboardInterrupt
            self._turns += 1
        waited = self._stage.waits.get((self._cell.name, self._number, self._turns - 1), 0)
        return {
            "import": {"import_s": 1.0, "versions": {}},
            "prepare": {
                "first_call_s": 2.0, "check": {}, "warmup_ns": [9], "work": {}, "data": "seeded",
            },
            "move": {},
            "turn": {
                "sample_steps": [3],
                "sample_ns": [1000 + self._number],
                "sample_cpu_ns": [900],
                "sample_wait_ns": [waited],
            },
            "finish": {"memory": {"peak_bytes": 7}, "settings": {"threads": 2}, "compilation": {"graphs": 1}},
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
        self.begun: set[Cell] = set()
        self.filled: set[Cell] = set()
        self.reference: Path | Ended = folder / "reference.npz"
        self.looks: tuple[int, ...] = (2,)
        self.settled: dict[int, list[str]] = {}
        self.budget_s: float | None = None
        self.seconds = 0.0
        self.implausible: Any = lambda record: None
        self.at_once = False
        self.gpus: Any = Driver([])
        self.stops: Any = None

    def state(self, cell: Cell) -> str:
        if cell in self.filled:
            return "warm"
        return "unsure" if cell in self.begun else "cold"

    def begin(self, cell: Cell) -> None:
        self.begun.add(cell)

    def fill(self, cell: Cell) -> None:
        assert cell in self.begun
        self.filled.add(cell)

    def ensure(self, cell: Cell, data: str | None) -> Path:
        if isinstance(self.reference, Ended):
            raise self.reference
        return self.reference

    def go(self, cells: list[Cell]) -> list[Any]:
        book = journal.Journal(self.folder)
        conditions = run.Conditions("r1", PROFILE, 1, (0, 1), {}, implausible=self.implausible, at_once=self.at_once)
        rows = list(dict.fromkeys(cell.row for cell in cells))
        self.stops = Stops(
            rows, self.looks, lambda records, rounds: self.settled.get(rounds, []), self.budget_s, lambda: self.seconds
        )
        under_way = run.Run(
            cells,
            conditions,
            book,
            self,
            self.stage.start,
            self,
            self.stops,
            journal.read(self.folder),
            gpus=self.gpus,
        )
        estimate = Estimate()
        with (
            (self.folder / "out.txt").open("a") as out,
            Display(Console(file=out, width=200), estimate) as display,
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


def test_after_a_first_process_that_failed_nobody_knows_what_is_in_the_cache(laboratory):
    laboratory.stage.ends[A.name, "prepare", 0] = Ended(TIMEOUT, "calibrate", "hangs")
    records = laboratory.go([A, B])
    assert {(r.cell, r.round, r.first_call_cache) for r in records} == {
        (A, 0, None), (B, 0, "cold"), (A, 1, "unsure"), (B, 1, "warm"),
    }  # fmt: skip


def test_cells_of_a_row_take_turns_sample_by_sample(laboratory):
    laboratory.go([A, B])
    turns = [column for what, column in laboratory.stage.log if what == "turn"]
    assert len(turns) == 16
    for first, second in zip(turns[::2], turns[1::2], strict=True):
        assert {first, second} == {A.column, B.column}


def test_the_driver_is_asked_after_every_turn_and_the_largest_memory_kept(laboratory):
    gpu = replace(A, device="gpu")
    laboratory.gpus = Driver([{FakeWorker.process_id: 5}, {FakeWorker.process_id: 9}, {FakeWorker.process_id: 7}])
    (first, second) = laboratory.go([gpu])
    assert first.memory == {"peak_bytes": 7, "nvml_peak_bytes": 9}
    assert second.memory == {"peak_bytes": 7, "nvml_peak_bytes": 7}
    assert first.disturbed == second.disturbed == {}


def test_a_stranger_on_the_gpu_disturbs_the_turn_which_is_taken_again(laboratory):
    gpu = replace(A, device="gpu")
    own, stranger = {FakeWorker.process_id: 5}, {FakeWorker.process_id: 5, 1 << 29: 100}
    laboratory.gpus = Driver([own, stranger, own])
    (first, second) = laboratory.go([gpu])
    assert first.disturbed == {"1": f"another process on the GPU: {1 << 29}"}
    assert (first.sample_turn, second.sample_turn) == ([0, 1, 2, 3, 4], [0, 1, 2, 3])


def test_without_time_nothing_is_taken_again(laboratory):
    laboratory.gpus = Driver([{FakeWorker.process_id: 5, 1 << 29: 100}])
    laboratory.budget_s, laboratory.seconds = 10.0, 0.0
    gpu = replace(A, device="gpu")
    go = laboratory.stage.start

    def start(*given):
        laboratory.seconds = 11.0
        return go(*given)

    laboratory.stage.start = start
    (record,) = laboratory.go([gpu])
    assert record.sample_turn == [0, 1, 2, 3]
    assert sorted(record.disturbed) == ["0", "1", "2", "3"]


def test_nobody_asks_the_driver_for_cells_of_the_processor(laboratory):
    laboratory.gpus = None
    assert [record.status for record in laboratory.go([A])] == ["ok", "ok"]


def test_the_frequencies_of_the_bound_processors_are_kept_as_a_range(laboratory, monkeypatch):
    asked = []

    def frequencies(processors):
        asked.append(processors)
        return [2000.0 + len(asked), 3000.0 - len(asked)]

    monkeypatch.setattr("bench.host.sitting.frequencies_mhz", frequencies)
    (first, second) = laboratory.go([A])
    assert set(asked) == {(0, 1)}
    assert (first.frequency_mhz, second.frequency_mhz) == ([2001.0, 2999.0], [2005.0, 2995.0])


def test_who_does_not_measure_first_calls_makes_them_at_once_and_measures_in_one_place(laboratory):
    laboratory.at_once = True
    laboratory.stage.shared |= {"prepare"}
    records = laboratory.go([A, B])
    assert [record.status for record in records] == ["ok"] * 4
    what = [said for said, _ in laboratory.stage.log]
    assert what[:8] == ["start"] * 2 + ["import"] * 2 + ["prepare"] * 2 + ["move"] * 2
    assert set(what[8 : what.index("finish")]) == {"turn"}
    assert [record.import_alone for record in records] == [False] * 4


@pytest.mark.parametrize("when", ["import", "prepare", "move"])
def test_an_end_while_all_prepare_at_once_leaves_the_other_alone(laboratory, when):
    laboratory.at_once = True
    laboratory.stage.shared |= {"prepare"}
    laboratory.stage.ends[A.name, when, 0] = Ended(TIMEOUT, "somewhere", "hangs")
    records = laboratory.go([A, B])
    assert [r.cell for r in records if r.status != "ok"] == [A]
    assert len([r for r in records if r.cell == B and r.sample_turn == [0, 1, 2, 3]]) == 2


@pytest.mark.parametrize("when", ["import", "prepare", "turn", "finish"])
def test_an_end_at_any_request_becomes_a_record_and_the_others_go_on(laboratory, when):
    laboratory.stage.ends[A.name, when, 0] = Ended(TIMEOUT, "somewhere", "hangs")
    records = laboratory.go([A, B])
    bad = [r for r in records if r.status != "ok"]
    assert [(r.cell, r.round, r.status, r.stage, r.reason) for r in bad] == [(A, 0, "timeout", "somewhere", "hangs")]
    assert len([r for r in records if r.cell == B and r.sample_turn == [0, 1, 2, 3]]) == 2
    assert [r.status for r in records if r.cell == A and r.round == 1] == ["ok"]


def test_processes_that_take_turns_share_a_memory_layout_and_no_others_do(laboratory):
    laboratory.go([A, B, C])
    sittings = laboratory.stage.layouts
    assert {row for row, _, _ in sittings} == {A.row, C.row}
    assert all(len(set(seeds)) == 1 for seeds in sittings.values())
    assert len({seeds[0] for seeds in sittings.values()}) == len(sittings)


def test_a_twin_is_not_told_that_it_is_one(laboratory):
    twin = replace(A, environment="torch1~twin")
    records = laboratory.go([A, twin])
    assert {record.cell for record in records} == {A, twin}
    assert set(laboratory.stage.told) == {A}


def test_a_worker_that_cannot_start_becomes_a_record(laboratory, monkeypatch):
    def start(cell, number, attempt, layout):
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
        assert json.loads(line)["schema"] == SCHEMA_VERSION


def test_a_disturbed_turn_is_marked_in_every_process_and_repeated(laboratory):
    laboratory.stage.waits.update({(A.name, 0, 2): 900, (B.name, 0, 2): 800, (B.name, 0, 3): 800})
    records = laboratory.go([A, B])
    disturbed = [r for r in records if r.disturbed]
    assert {(r.cell, r.round, tuple(r.disturbed)) for r in disturbed} == {(A, 0, ("2",)), (B, 0, ("2",))}
    assert "torch1:eager waited 45% of it for a processor" in disturbed[0].disturbed["2"]
    assert all(r.sample_turn == [0, 1, 2, 3, 4] for r in disturbed)
    assert [r.sample_turn for r in records if r.round == 1] == [[0, 1, 2, 3]] * 2


def test_repeats_are_limited(laboratory):
    waits = {(cell.name, 0, turn): 900 for cell in (A, B) for turn in (1, 2, 4)}
    laboratory.stage.waits.update({**waits, (C.name, 0, 0): 900})
    first = {r.cell: r for r in laboratory.go([A, B, C]) if r.round == 0}
    assert {cell: tuple(record.sample_turn) for cell, record in first.items()} == {
        A: (0, 1, 2, 3, 4, 5),
        B: (0, 1, 2, 3, 4, 5),
        C: (0, 1, 2, 3, 4),
    }
    assert list(first[B].disturbed) == ["1", "2", "4"]


def test_a_settled_row_stops_at_its_look_and_the_others_go_on(laboratory):
    laboratory.looks = (2, 3, 5)
    laboratory.settled = {2: [A.row], 3: []}
    records = laboratory.go([A, B, C])
    assert {r.round for r in records if r.cell.row == A.row} == {0, 1}
    assert {r.round for r in records if r.cell == C} == {0, 1, 2, 3, 4}
    assert laboratory.stops.made == {A.row: (2, "settled"), C.row: (5, "most rounds")}


def test_a_spent_budget_ends_the_run_and_says_so(laboratory):
    laboratory.budget_s = 10.0
    start = laboratory.stage.start

    def slow(*arguments):
        laboratory.seconds += 6.0
        return start(*arguments)

    laboratory.stage.start = slow
    records = laboratory.go([A, C])
    assert {(r.cell, r.round) for r in records} == {(A, 0), (C, 0)}
    assert set(laboratory.stops.made.values()) == {(1, "budget")}


def test_samples_that_cannot_be_true_fail_the_cell_and_stay_in_its_record(laboratory):
    laboratory.implausible = lambda record: "faster than light" if record.cell == A else None
    records = laboratory.go([A, B])
    bad = [r for r in records if r.cell == A]
    assert {(r.status, r.stage, r.reason) for r in bad} == {("failed", "plausibility", "faster than light")}
    assert all(len(r.sample_ns) == 4 for r in bad)
    assert {r.status for r in records if r.cell == B} == {"ok"}
