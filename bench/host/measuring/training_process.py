"""Represents one training in one process: the requests to its worker, and the results that grow from the answers.

Nothing here raises for what a worker does: a training that ends badly has a status and a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.cell import Cell
from bench.record import FAILED, MISMATCH, OK

from ..executors.host_clock import HostClock, Unbelievable
from ..storage.training_records import EpochResult, Trained
from ..workers.protocol import Ended, Transport, ask

#: Seconds that an epoch may take.
EPOCH_TIMEOUT_S = 6 * 3600.0
#: What the answers give to what is stored.
BEGUN = ("training", "validation", "batch", "steps", "start_s", "data")
OF_EPOCH = ("train_ns", "cpu_ns", "accuracy", "cross_entropy", "squared_error")


class TrainingProcess:
    """One cell that is trained with one seed in a process; ``nudged`` changes its initial weights in the last bit."""

    def __init__(
        self, cell: Cell, seed: int, start: Callable[[Cell], Transport], timeout_s: float, *, nudged: bool
    ) -> None:
        self.cell = cell
        self._start = start
        self._timeout_s = timeout_s
        self._worker: Transport | None = None
        self._clock = HostClock()
        self.trained = Trained(cell=cell.to_json(), seed=seed, nudged=nudged)

    @property
    def is_well(self) -> bool:
        return bool(self.trained.status == OK)

    def check(self, request: dict[str, Any]) -> None:
        """Compare the program with the float64 reference, in a process of its own."""

        def compare() -> None:
            self._import()
            self._ask(do="prepare", **request)

        self._do(compare)
        self.kill()

    def begin(self, digest: str, request: dict[str, Any]) -> None:
        """Start, build and compile; ``digest`` is the host's hash of initial weights and batches."""

        def learn() -> None:
            self._import()
            answer = self._ask(do="learn", seed=self.trained.seed, nudged=int(self.trained.nudged), **request)
            if answer["digest"] != digest:
                said = "the initial weights or the batches differ from those of the host: other data, or another NumPy"
                raise Ended(MISMATCH, "check", said)
            self._note(**{name: answer[name] for name in BEGUN})

        self._do(learn)

    def run_epoch(self) -> None:
        """Train for one epoch, and evaluate."""

        def train() -> None:
            self._clock.sent()
            answer = self._ask(EPOCH_TIMEOUT_S, do="epoch")
            self._clock.received()
            taken = {"sample_ns": [answer["train_ns"]], "sample_cpu_ns": [answer["cpu_ns"]]}
            try:
                self._clock.verify(taken, 1, None)
            except Unbelievable as error:
                raise Ended(FAILED, "measure", str(error)) from None
            found = EpochResult(**{name: answer[name] for name in OF_EPOCH})
            update = answer.get("update") or self.trained.update
            self._note(epochs=[*self.trained.epochs, found], update=update)

        self._do(train)

    def finish(self) -> None:
        """Note what was in force, and end the process."""

        def tell() -> None:
            self._note(settings=self._ask(do="finish", again=False)["settings"])

        self._do(tell)
        self.kill()

    def end(self, ended: Ended) -> None:
        """Note how the training ended, and end its process."""
        self._note(status=ended.status, stage=ended.stage, reason=ended.reason)
        self.kill()

    def kill(self) -> None:
        """End the process in whatever state it is."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def _import(self) -> None:
        self._worker = self._start(self.cell)
        answer = self._ask(do="import", cell=self.cell.to_json())
        self._note(versions=answer["versions"])

    def _ask(self, timeout_s: float | None = None, **request: Any) -> dict[str, Any]:
        """Ask the worker, which is stopped until the next request, while others compute."""
        assert self._worker is not None
        self._worker.resume()
        answer = ask(self._worker, timeout_s or self._timeout_s, **request)
        self._worker.pause()
        return answer

    def _do(self, action: Callable[[], None]) -> None:
        if not self.is_well:
            return
        try:
            action()
        except Ended as ended:
            self.end(ended)

    def _note(self, **values: Any) -> None:
        self.trained = self.trained.model_copy(update=values)
