"""Measures a trial: a run of a cell and its twin, until their comparison is settled."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.cell import Cell
from bench.record import Record

from ..executors.job import InstalledEnvironment, RowJob, RowRound
from ..executors.local import Executor
from ..measuring import rounds
from ..measuring.stopping import Stops
from ..reporting.progress import Display, RemainingTime
from ..statistics.verdict import Verdict
from ..storage.journal import Journal
from ..study.schema import Profile
from ..study.twin import is_twin, with_twin
from . import summary
from .trial import Trial, TrialData, trial_data

#: Many short rounds: the process is the unit, and starting one costs more than its samples. The first look is after
#: fourteen rounds: twelve pairs are enough for a verdict, so that two processes may fail. The last is after sixty: some
#: processes are 4 % faster than others for as long as they live, whatever the cell.
PROFILE = Profile.model_validate(
    {
        "name": "validate",
        "rounds": 14,
        "most_rounds": 60,
        "samples": 20,
        "sample_seconds": 0.005,
        "sizes": ("tiny",),
        "compile_cache": "kept",
        "timeout_s": 120.0,
    }
)
#: Samples of processes that take long to start. The best number is the square root of the cost of a start over that of
#: a sample, times the spread within over the spread between processes (Kalibera & Jones 2013). For PyTorch 2, with
#: 2.5 s, 20 ms, 5 % and 1 %, that is 56; for NumPy, with 0.3 s, 20 ms, 2.5 % and 0.5 %, 19.
SAMPLES_OF_FRAMEWORKS = 60
SEED = 20261121


def _planted(trial: Trial, cells: Sequence[Cell]) -> dict[str, dict[str, float]]:
    """Return the extra work of each column: the twin does more, and the samples of both hold as many planned steps."""
    if not trial.slowdown:
        return {}
    return {
        cell.column: {"slowdown": trial.slowdown if is_twin(cell) else 0.0, "sized_for": trial.slowdown}
        for cell in cells
    }


def profile_for(cell: Cell) -> Profile:
    """Return the profile for a cell: NumPy starts quickly, the frameworks do not."""
    return PROFILE if cell.framework == "numpy" else PROFILE.model_copy(update={"samples": SAMPLES_OF_FRAMEWORKS})


@dataclass(frozen=True)
class TrialMeasurement:
    """Measures trials on one machine."""

    #: For the journal of the trial under way; emptied before each trial.
    folder: Path
    executor: Executor
    environments: Mapping[str, InstalledEnvironment]
    looks: tuple[int, ...]
    #: {name: folder} of plug-in sources: see ``bench.registry``.
    sources: Mapping[str, str]
    #: Whether workers can move to other processors; containers cannot.
    can_move: bool

    def measure(self, trial: Trial) -> TrialData:
        """Measure one trial; KeyboardInterrupt passes through."""
        shutil.rmtree(self.folder, ignore_errors=True)
        began = time.monotonic()
        stops = Stops([trial.cell.row], self.looks, lambda records, rounds: self._undecided(trial, records, rounds))
        run = rounds.Run(
            cells=with_twin([trial.cell], trial.cell.column),
            seed=SEED,
            samples=profile_for(trial.cell).samples,
            make_job=lambda row_round, left_s: self._job(trial, row_round),
            executor=self.executor,
            journal=Journal(self.folder),
            stops=stops,
        )
        quiet = RemainingTime()
        try:
            run.measure(Display(Console(quiet=True), quiet), quiet)
        finally:
            # The next trial has rounds of its own, with processes of its own.
            self.executor.close()
        measured = stops.made[trial.cell.row].rounds
        return trial_data(trial, run.records, measured, self.looks, time.monotonic() - began)

    def _job(self, trial: Trial, row_round: RowRound) -> RowJob:
        profile = profile_for(trial.cell)
        return RowJob(
            run=f"trial-{trial.number}",
            row_round=row_round,
            environments={trial.cell.environment: self.environments[trial.cell.environment]},
            threads=trial.cell.threads,
            samples=profile.samples,
            sample_seconds=profile.sample_seconds,
            timeout_s=profile.timeout_s,
            data_seed=SEED,
            order_seed=SEED + trial.number,
            # Identical cells start one after the other, as in a study: the start order is part of what is validated.
            at_once=bool(trial.slowdown) and self.can_move,
            planted=_planted(trial, row_round.cells),
            cache_kept=True,
            sources=self.sources,
            log_label="trial",
        )

    def _undecided(self, trial: Trial, records: Sequence[Record], rounds: int) -> list[Cell]:
        verdict = summary.judge(trial_data(trial, records, rounds, self.looks, 0.0)).verdict
        if verdict in (Verdict.DIFFERENT, Verdict.EQUIVALENT):
            return []
        return list(dict.fromkeys(record.cell for record in records))
