"""Trains the cells of a study to a result: seed by seed, and within a seed epoch by epoch in turns."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.program import Unsupported
from bench.record import OK, OUTSIDE
from bench.worker.learning import division
from bench.worker.learning.lessons import Lessons

from ..analysis.versions import names_to_store
from ..counts import counted
from ..environments import Prepared
from ..executors.job import InstalledEnvironment, describe_each
from ..executors.parents import Parents
from ..executors.starter import Starter
from ..machine import facts, processors
from ..project import COMPILE_CACHES, REFERENCES, STATE
from ..refusal import Refused
from ..storage import input_data, training_records
from ..storage.compile_caches import CompileCaches
from ..storage.hashes import hashed
from ..storage.identity import identity
from ..storage.references import References
from ..storage.training_records import TrainingFacts
from ..study.plan import Plan
from ..study.rows import group_by_row
from ..study.schema import Study
from ..workers.protocol import Ended, Transport
from .study_jobs import MEMORY_SHARE
from .training_process import TrainingProcess


@dataclass(frozen=True)
class TrainingPlan:
    """How every cell is trained."""

    epochs: int
    #: Each gives initial weights and the order of the batches.
    seeds: tuple[int, ...]
    #: The share of the examples that is held out.
    share: float
    target: float | None


class TrainingRun:
    """The trainings of one invocation in ``root``."""

    def __init__(
        self,
        root: Path,
        study: Study,
        plan: Plan,
        prepared: Mapping[str, Prepared],
        course: TrainingPlan,
        data: Mapping[str, Path | None],
        announce: Callable[[str], None],
    ) -> None:
        """``data`` is {workload: the folder that holds its examples, None for those that it brings}."""
        self._root = root
        self._study = study
        self._plan = plan
        self._prepared = prepared
        self._course = course
        self._sources = data
        self._announce = announce
        # Importing a framework takes longer than an epoch of a small network.
        self._parents = Parents() if plan.profile.workers == "forked" else None
        self.folder = training_records.folder_of(root, study.settings.name)

    def begin(self, *, fresh: bool) -> None:
        """Begin, or continue what was begun. Raises Refused for unusable data, with all that was trained in place."""
        self._rows = group_by_row(list(self._plan.cells))
        # What is wrong with the data must be found before anything is trained or moved.
        self._examples = {row: self._load(cells[0]) for row, cells in self._rows.items()}
        self._done = {one.key for one in training_records.begin(self.folder, self._facts(), fresh=fresh)}
        if self._done:
            done = counted(len(self._done), "training is", "trainings are")
            self._announce(f"Continuing: {done} done (--fresh starts over).")

    def train(self) -> None:
        """Do what is left of what was begun, and keep each training as soon as its seed is done. Raises Refused."""
        try:
            for row, cells in self._rows.items():
                self._train_row(row, cells, self._done)
        finally:
            if self._parents is not None:
                self._parents.close()

    @functools.cached_property
    def _data(self) -> dict[str, str | None]:
        """What a worker gets for the data of each workload: a folder, or an archive that is made of it once."""
        return input_data.resolve_all(
            self._sources, root=self._root, announce=self._announce, registry=self._study.registry
        )

    def _load(self, cell: Cell) -> division.Examples:
        specification = self._study.registry.specification(cell.workload)
        batch = specification.items(specification.SIZES[cell.size])
        try:
            return division.load(
                specification, batch, self._course.share, self._plan.seed, self._data.get(cell.workload)
            )
        except Unsupported as error:
            raise Refused(f"{cell.workload}: {error}.") from None
        except (ValueError, OSError) as error:
            raise Refused(f"{cell.workload}: {error}") from None

    def _facts(self) -> TrainingFacts:
        course, machine = self._course, facts.describe()
        about: dict[str, Any] = {
            "run": identity(self._root, self._study, self._plan, self._prepared, machine),
            "epochs": course.epochs,
            "seeds": course.seeds,
            "share": course.share,
            "baseline": self._plan.baseline,
            "data": {name: examples.description for name, examples in self._examples.items()},
        }
        return TrainingFacts(
            identity=hashed(about),
            started=time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
            study=self._study.settings.name,
            baseline=self._plan.baseline,
            epochs=course.epochs,
            seeds=list(course.seeds),
            division_seed=self._plan.seed,
            share=course.share,
            target=course.target,
            machine=machine,
            frameworks=names_to_store(self._study.registry, self._plan.cells),
        )

    def _train_row(self, row: str, cells: Sequence[Cell], done: set[tuple[Cell, int, bool]]) -> None:
        baseline = next((cell for cell in cells if cell.column == self._plan.baseline), cells[0])
        members = [*((cell, False) for cell in cells), (baseline, True)]
        left = {seed: [one for one in members if (one[0], seed, one[1]) not in done] for seed in self._course.seeds}
        needed = list({cell: None for each in left.values() for cell, _nudged in each})
        ready = [cell for cell in needed if self._prepared[cell.environment].status == OK]
        if ready:
            bound = processors.chosen(ready[0].threads)
            self._starter.ready(ready, "training", processors=bound, timeout_s=self._plan.profile.timeout_s)
        wrong = self._check(needed)
        for number, seed in enumerate(self._course.seeds, 1):
            processes = [self._process(cell, seed, nudged=nudged) for cell, nudged in left[seed] if cell not in wrong]
            said = f"{row}, seed {number} of {len(self._course.seeds)}"
            try:
                self._train_seed(row, processes, said)
            finally:
                for process in processes:
                    process.kill()
            training_records.append(self.folder, [process.trained for process in processes])

    def _check(self, cells: Sequence[Cell]) -> set[Cell]:
        """Compare every cell with float64 before it is trained; keep and return those that are wrong."""
        wrong = set()
        for cell in cells:
            process = self._process(cell, self._course.seeds[0])
            try:
                self._check_one(process)
            finally:
                process.kill()
            if not process.is_well:
                wrong.add(cell)
                training_records.append(self.folder, [process.trained])
                self._announce(f"{cell.name}: {process.trained.status}: {process.trained.reason}")
        return wrong

    def _check_one(self, process: TrainingProcess) -> None:
        cell, seed = process.cell, self._plan.seed
        prepared, data = self._prepared[cell.environment], self._data.get(cell.workload)
        if prepared.status != OK:
            process.end(Ended(prepared.status, prepared.stage or OUTSIDE, prepared.reason or "it is not ready"))
            return
        references = References(self._root, self._root / STATE / REFERENCES, seed, cell.threads, self._study.registry)
        try:
            reference = references.ensure(cell, data)
        except Ended as ended:
            raise Refused(f"{cell.row}: the float64 reference was not computed: {ended.reason}") from None
        process.check({"seed": seed, "reference": str(reference), "data": data})

    def _train_seed(self, row: str, processes: Sequence[TrainingProcess], said: str) -> None:
        if not processes:
            return
        seed = processes[0].trained.seed
        specification = self._study.registry.specification(processes[0].cell.workload)
        size = specification.SIZES[processes[0].cell.size]
        digests = {
            nudged: Lessons(specification, size, seed, int(nudged), self._examples[row]).digest()
            for nudged in {process.trained.nudged for process in processes}
        }
        request = {
            "division_seed": self._plan.seed,
            "share": self._course.share,
            "data": self._data.get(processes[0].cell.workload),
        }
        ended: set[TrainingProcess] = set()
        for process in processes:
            process.begin(digests[process.trained.nudged], request)
        for epoch in range(self._course.epochs):
            for process in _in_turns(processes, seed, epoch):
                process.run_epoch()
            self._tell(f"{said}, epoch {epoch + 1} of {self._course.epochs}", processes, ended)
        for process in processes:
            process.finish()

    def _tell(self, said: str, processes: Sequence[TrainingProcess], ended: set[TrainingProcess]) -> None:
        found = [process.trained.epochs[-1].accuracy for process in processes if process.is_well]
        if found:
            low, high = f"{100 * min(found):.1f}%", f"{100 * max(found):.1f}%"
            self._announce(f"{said}: accuracy {low}" + ("" if low == high else f" to {high}"))
        for process in processes:
            if not process.is_well and process not in ended:
                ended.add(process)
                self._announce(f"{process.cell.name}: {process.trained.status}: {process.trained.reason}")

    def _process(self, cell: Cell, seed: int, *, nudged: bool = False) -> TrainingProcess:
        label = f"training.s{seed}{'.nudged' if nudged else ''}"

        def start(cell: Cell) -> Transport:
            return self._starter.start(cell, label, processors=processors.chosen(cell.threads))

        return TrainingProcess(cell, seed, start, self._plan.profile.timeout_s, nudged=nudged)

    @functools.cached_property
    def _starter(self) -> Starter:
        environments = InstalledEnvironment.of_each(self._prepared, self._study.environments)
        folder = self._root / STATE / COMPILE_CACHES
        caches = CompileCaches(folder, "training", True, describe_each(environments), self._study.registry)
        limit = int(facts.available_bytes() * MEMORY_SHARE)
        return Starter(self._root, self.folder, environments, caches, dict(self._sources), limit, parents=self._parents)


def _in_turns(processes: Sequence[TrainingProcess], seed: int, epoch: int) -> Iterator[TrainingProcess]:
    """Yield the processes in the drawn order of an epoch."""
    order = list(processes)
    random.Random(f"{seed}/{epoch}").shuffle(order)
    return iter(order)
