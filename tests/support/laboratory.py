"""A run in a folder with fake workers, and everything that happens to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from bench.cell import Cell
from bench.host.measuring import rounds
from bench.host.measuring.stopping import Stops
from bench.host.reporting.progress import Display, RemainingTime
from bench.host.storage import journal
from bench.host.workers.protocol import Ended

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
        conditions = rounds.Conditions("r1", PROFILE, 1, (0, 1), {}, implausible=self.implausible, at_once=self.at_once)
        rows = list(dict.fromkeys(cell.row for cell in cells))
        self.stops = Stops(
            rows, self.looks, lambda records, rounds: self.settled.get(rounds, []), self.budget_s, lambda: self.seconds
        )
        under_way = rounds.Run(
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
        estimate = RemainingTime()
        with (
            (self.folder / "out.txt").open("a") as out,
            Display(Console(file=out, width=200), estimate) as display,
        ):
            under_way.measure(display, estimate)
        return journal.read(self.folder)


@pytest.fixture
def laboratory(tmp_path):
    return Laboratory(tmp_path)
