"""Knows how a trial is measured: a run of two cells, one of them the other's twin, until it is settled."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.cell import Cell
from bench.record import Record

from ..measuring import rounds
from ..measuring.stopping import Stops
from ..reporting.progress import Display, RemainingTime
from ..statistics.verdict import Verdict
from ..storage.compile_caches import COLD
from ..storage.journal import Journal
from ..storage.references import References
from ..study.schema import Profile
from ..study.twin import SUFFIX, is_twin, with_twin
from ..workers.protocol import Transport
from . import summary
from .trial import Trace, Trial, trace_of

#: Many short rounds: the process is the unit, and starting one costs more than its samples. Fourteen, since the first
#: look can tell a difference by twelve pairs, so that two processes may fail; sixty, as some processes are 4 % faster
#: than others for as long as they live, whatever the cell.
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
#: Of processes that take long to start: the best number is the square root of what starting costs over what a sample
#: costs, times the spread within over the spread between processes (Kalibera & Jones 2013). For PyTorch 2, with 2.5 s,
#: 20 ms, 5 % and 1 %, that is 56; for NumPy, with 0.3 s, 20 ms, 2.5 % and 0.5 %, 19.
SAMPLES_OF_FRAMEWORKS = 60
SEED = 20261121


class NoCaches:
    """First calls are not what is validated."""

    def state(self, cell: Cell) -> str:
        return COLD

    def begin(self, cell: Cell) -> None:
        return

    def fill(self, cell: Cell) -> None:
        return


def _planted(trial: Trial, cell: Cell) -> dict[str, float]:
    """Return what a worker is asked: the twin does more, and the samples of both hold as many steps that count."""
    if not trial.slowdown:
        return {}
    return {"slowdown": trial.slowdown if is_twin(cell) else 0.0, "sized_for": trial.slowdown}


def profile_for(cell: Cell) -> Profile:
    """Return how a cell is sampled."""
    return PROFILE if cell.framework == "numpy" else PROFILE.model_copy(update={"samples": SAMPLES_OF_FRAMEWORKS})


#: Starts a worker with a label for its log and the seed of its memory layout.
Place = Callable[[Cell, str, int], Transport]


def _start(places: Sequence[Place], cell: Cell, number: int, layout: int) -> Transport:
    """Start a worker where its twin is not, in every other round at the other place."""
    place = places[(number + is_twin(cell)) % len(places)]
    return place(cell, f"trial{SUFFIX if is_twin(cell) else ''}", layout)


@dataclass(frozen=True)
class Bench:
    """Where trials are measured."""

    #: For journals under way; emptied after each trial.
    folder: Path
    references: References
    #: The first starts workers where they are measured; another one starts them beside it, for trials in which both
    #: begin at once.
    places: Sequence[Place]
    #: Where they are measured.
    processors: tuple[int, ...]
    looks: tuple[int, ...]

    def measure(self, trial: Trial) -> Trace:
        """Measure one trial; KeyboardInterrupt passes through."""
        shutil.rmtree(self.folder, ignore_errors=True)
        began = time.monotonic()
        # Identical cells are measured as a study measures them: what a process finds that starts second is to be seen.
        places = self.places if trial.slowdown else self.places[:1]
        conditions = rounds.Conditions(
            run=f"trial-{trial.number}",
            profile=profile_for(trial.cell),
            seed=SEED,
            processors=self.processors,
            data={},
            order_seed=SEED + trial.number,
            planted=lambda cell: _planted(trial, cell),
            at_once=len(places) > 1,
        )
        stops = Stops([trial.cell.row], self.looks, lambda records, rounds: self._settled(trial, records, rounds))
        under_way = rounds.Run(
            with_twin([trial.cell], trial.cell.column),
            conditions,
            Journal(self.folder),
            self.references,
            lambda cell, number, attempt, layout: _start(places, cell, number, layout),
            NoCaches(),
            stops,
        )
        quiet = RemainingTime()
        under_way.measure(Display(Console(quiet=True), quiet), quiet)
        measured = stops.made[trial.cell.row].rounds
        return trace_of(trial, under_way.records, measured, self.looks, time.monotonic() - began)

    def _settled(self, trial: Trial, records: Sequence[Record], rounds: int) -> list[str]:
        verdict = summary.judge(trace_of(trial, records, rounds, self.looks, 0.0)).verdict
        return [trial.cell.row] if verdict in (Verdict.DIFFERENT, Verdict.EQUIVALENT) else []
