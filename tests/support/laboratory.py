"""Measures a run in a folder with fake workers, and keeps everything that happens to them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bench.cell import Cell
from bench.host.executors.job import InstalledEnvironment, RowJob, RowRound
from bench.host.executors.resources import Resources
from bench.host.executors.row_measurement import RowMeasurement
from bench.host.machine.energy import Power
from bench.host.machine.gpu_clocks import Clocks
from bench.host.measuring import rounds
from bench.host.measuring.growth_checks import GrowthChecks
from bench.host.measuring.stopping import Stops
from bench.host.reporting.progress import Display, RemainingTime
from bench.host.storage import journal
from bench.host.storage.kept_growth import KeptGrowth
from bench.host.workers.messages import ANSWERS
from bench.host.workers.protocol import Ended
from bench.record import Record

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
        #: The cells and rounds in which growth was verified.
        self.growth: list[tuple[Cell, int]] = []
        #: {name of a cell: what it tells of its work}
        self.work: dict[str, dict[str, float]] = {}
        #: Whether the workers' versions can read back what they compiled.
        self.keeps_code = True
        #: Every worker's cell and the processors that it was started on.
        self.places: list[tuple[Cell, tuple[int, ...]]] = []
        self.running: set[str] = set()
        #: The requests that several workers may be busy with at the same time.
        self.shared = {"import", "finish"}
        #: {request: the most workers that ran when one was answered}
        self.most_beside: dict[str, int] = {}

    def start(self, cell: Cell, number: int, attempt: int, layout: int) -> FakeWorker:
        self.layouts.setdefault((cell.row, number, attempt), []).append(layout)
        self.log.append(("start", cell.column))
        return FakeWorker(self, cell, number)


class Driver:
    """Tells after each turn who is on the GPU, and with how many bytes; the last answer is for all that follow.

    ``beside`` are the processes on another GPU, ``draw`` those that only draw. ``clocks`` are what is read of the clock
    before the first sample and after each; the last one is for all that follow.
    """

    def __init__(
        self,
        told: list[dict[int, int]],
        beside: dict[int, int] | None = None,
        draw: set[int] | None = None,
        clocks: list[Clocks] | None = None,
    ) -> None:
        self._told = told
        self._beside = beside or {}
        self._draw = draw or set()
        self._clocks = clocks or []
        #: Whether the library is open.
        self.open = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self.open = True
        yield
        self.open = False

    def ours(self, own: set[int]) -> list[int]:
        assert own == {FakeWorker.process_id}
        return [0]

    def limits(self, numbers: list[int]) -> dict[str, str]:
        return {"GPU power limit": "500 W (default 700 W)"} if self._clocks else {}

    def clocks(self, numbers: list[int]) -> dict[int, Clocks]:
        assert self.open
        assert numbers == [0]
        return {0: self._clocks.pop(0) if len(self._clocks) > 1 else self._clocks[0]} if self._clocks else {}

    def drawing(self, since_s: float) -> set[int]:
        return self._draw

    def process_bytes(self) -> list[dict[int, int]]:
        return [self._told.pop(0) if len(self._told) > 1 else dict(*self._told), dict(self._beside)]


class FakeWorker:
    #: A number that no process has, so that no session is found for it.
    process_id = 1 << 30
    stage = "measure"
    has_init = False
    others = import_alone = None

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
        if do == "finish" and self._request["growth"]:
            self._stage.growth.append((self._cell, self._number))
        beside = self._stage.most_beside
        beside[do] = max(beside.get(do, 0), len(self._stage.running))
        if do not in self._stage.shared:
            assert self._stage.running == {self._cell.name}, "only the worker that measures may run"
        if do == "turn":
            self._stage.turns += 1
            if self._stage.interrupt_after is not None and self._stage.turns > self._stage.interrupt_after:
                raise KeyboardInterrupt
            self._turns += 1
        work = self._stage.work.get(self._cell.name, {})
        waited = self._stage.waits.get((self._cell.name, self._number, self._turns - 1), 0)
        answer = {
            "import": {"import_s": 1.0, "versions": {}},
            "prepare": {
                "first_call_s": 2.0, "keeps_code": self._stage.keeps_code, "check": {}, "work": work, "data": "seeded",
            },
            "calibrate": {"warmup_ns": [9]},
            "move": {},
            "turn": {
                "sample_steps": [3],
                "sample_ns": [1000 + self._number],
                "sample_cpu_ns": [900],
                "sample_wait_ns": [waited],
            },
            "work": {"steps": 50, "seconds": 2.0},
            "finish": {"memory": {"peak_bytes": 7}, "settings": {"threads": 2}, "compilation": {"graphs": 1}},
        }[do]  # fmt: skip
        if do == "finish" and self._request["again"]:
            answer = {**answer, "checked_again": 2}
        return {"event": ANSWERS[do], **answer}

    def pause(self) -> None:
        self._stage.running.discard(self._cell.name)

    def resume(self) -> None:
        self._stage.running.add(self._cell.name)

    def end_input(self) -> None:
        self._stage.log.append(("end", self._cell.column))
        # It ends without another request.
        self.resume()

    def kill(self) -> None:
        self._stage.running.discard(self._cell.name)

    def close(self) -> None:
        self._stage.log.append(("close", self._cell.column))
        self.kill()


class Laboratory:
    """A run in a folder; ``go`` is one invocation. It is the executor of the run, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stage = Stage()
        self.begun: set[Cell] = set()
        self.filled: set[Cell] = set()
        self.reference: Path | Ended = folder / "reference.npz"
        self.looks: tuple[int, ...] = (2,)
        #: {look: the cells that need more rounds then}
        self.undecided: dict[int, list[Cell]] = {}
        self.budget_s: float | None = None
        self.seconds = 0.0
        #: The peaks of the machine, what is found when they are measured again, and for which cells that was done.
        self.peaks: dict[str, Any] = {}
        self.peaks_again: dict[str, Any] = {}
        self.peaks_asked: list[tuple[Cell, list[str]]] = []
        self.at_once = False
        #: The processors beside those on which workers are measured.
        self.beside = (2, 3)
        self.gpus: Any = Driver([])
        self.gpus_shared = False
        #: The seconds of a cell's work whose energy is measured, and the counters of devices.
        self.energy_s, self.power = 0.0, Power({})
        self.stops: Any = None
        #: All jobs so far.
        self.jobs: list[RowJob] = []
        #: What measures the cells of a round side by side; None for rows that take turns.
        self.lanes: Any = None
        self.memory_share: float | None = None
        #: What is kept between runs of the cells whose time was verified to grow, and environments that changed.
        self.kept_growth: KeptGrowth | None = None
        self.changed: set[str] = set()

    def state(self, cell: Cell) -> str:
        if cell in self.filled:
            return "warm"
        return "unsure" if cell in self.begun else "cold"

    def begin(self, cell: Cell) -> None:
        self.begun.add(cell)

    def fill(self, cell: Cell) -> None:
        assert cell in self.begun
        self.filled.add(cell)

    def ensure(self, cell: Cell) -> Path:
        if isinstance(self.reference, Ended):
            raise self.reference
        return self.reference

    def slow_down(self, seconds: float) -> None:
        """Make the start of every process take so long by the clock of the run."""
        start = self.stage.start

        def slow(*arguments: Any) -> Any:
            self.seconds += seconds
            return start(*arguments)

        self.stage.start = slow

    def measure_peaks(self, cell: Cell, precisions: Any) -> dict[str, Any]:
        assert not self.stage.running, "a worker computes while peaks are measured"
        self.peaks_asked.append((cell, list(precisions)))
        return self.peaks_again

    def make_job(self, row_round: RowRound, left_s: float | None) -> RowJob:
        environments = {cell.environment: InstalledEnvironment(()) for cell in row_round.cells}
        return RowJob(
            run="r1",
            row_round=row_round,
            environments=environments,
            threads=2,
            samples=4,
            sample_seconds=0.01,
            timeout_s=5.0,
            data_seed=1,
            order_seed=1,
            at_once=self.at_once,
            energy_s=self.energy_s,
            peaks=self.peaks,
            left_s=left_s,
            memory_share=self.memory_share,
        )

    def run(self, job: RowJob, emit: Any) -> None:
        self.jobs.append(job)

        def start(cell: Cell, *, processors: Any, layout: int) -> FakeWorker:
            self.stage.places.append((cell, tuple(processors)))
            return self.stage.start(cell, job.row_round.round, job.row_round.attempt, layout)

        resources = Resources(
            processors=(0, 1),
            start=start,
            caches=self,
            reference=self.ensure,
            beside=self.beside,
            peaks=self.measure_peaks,
            gpus=self.gpus,
            gpus_shared=self.gpus_shared,
            power=self.power,
            clock=lambda: self.seconds,
        )
        RowMeasurement(job, resources, emit).run()

    def go(self, cells: list[Cell]) -> list[Any]:
        rows = list(dict.fromkeys(cell.row for cell in cells))
        self.stops = Stops(
            rows,
            self.looks,
            lambda records, rounds: self.undecided.get(rounds, cells),
            self.budget_s,
            lambda: self.seconds,
        )
        under_way = rounds.Run(
            cells=cells,
            seed=1,
            samples=4,
            make_job=self.make_job,
            executor=self,
            journal=journal.Journal(self.folder),
            stops=self.stops,
            records=journal.read(self.folder),
            lanes=self.lanes,
            note_peaks=self.peaks.__setitem__,
            growth=GrowthChecks(self.kept_growth),
        )
        remaining = RemainingTime()
        with (
            (self.folder / "out.txt").open("a") as out,
            Display(Console(file=out, width=200), remaining) as display,
        ):
            under_way.measure(display, remaining)
        under_way.growth.keep(self.changed)
        return journal.read(self.folder)


def turns_of(records: list[Record], cell: Cell, number: int) -> list[int]:
    """Return the turns that the processes of a cell took in a round, in order."""
    return sorted(t for r in records if (r.cell, r.round) == (cell, number) for t in r.sample_turn)


@pytest.fixture
def laboratory(tmp_path):
    return Laboratory(tmp_path)
