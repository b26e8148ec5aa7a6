"""Defines the trials of a validation and the data that are stored of each: the pairs of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.cell import Cell
from bench.record import OK, Record

from ..analysis.processes import TimedProcess, timed_processes
from ..statistics.pairs import Process, TurnArray, by_turn, log_ratio
from ..study.twin import is_twin

#: The planted slowdown may differ from the intended one by this share of it.
PRECISION = 0.05
#: Version of the stored form; version 3 lacks the mark of disturbed pairs.
VERSION, OLDEST = 4, 3


@dataclass(frozen=True)
class Trial:
    """A cell compared with itself, the second time with ``slowdown`` as a share of real extra work; 0 is A/A."""

    number: int
    cell: Cell
    slowdown: float


@dataclass(frozen=True)
class Pair:
    """The common turns of two processes: nanoseconds per step of the cell, and of its twin."""

    round: int
    cell_ns: tuple[float, ...]
    twin_ns: tuple[float, ...]
    #: How many of them came before the steady state of both.
    early: int = 0
    #: Whether one of the two was disturbed most of the time.
    disturbed: bool = False

    @property
    def log_ratio(self) -> float | None:
        """The logarithm of the ratio, computed as a study does."""
        cell, twin = (by_turn(np.array(ns), np.arange(len(ns)), self.early) for ns in (self.cell_ns, self.twin_ns))
        return log_ratio(twin, cell)


@dataclass(frozen=True)
class TrialData:
    """The data of a measured trial."""

    trial: Trial
    #: The share of extra steps that was really run; samples hold whole steps.
    planted: float
    rounds: int
    #: The numbers of rounds after which verdicts are computed, ascending; the trial may have stopped earlier.
    looks: tuple[int, ...]
    pairs: tuple[Pair, ...]
    #: Wall seconds of the whole comparison, both cells and everything around them.
    seconds: float
    #: Why a comparison has no pairs.
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        pairs = [[p.round, p.early, p.disturbed, p.cell_ns, p.twin_ns] for p in self.pairs]
        return {**asdict(self), "version": VERSION, "trial": asdict(self.trial), "pairs": pairs}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TrialData:
        """Rebuild stored data; raises ValueError for anything else."""
        version = values.get("version")
        if version not in (OLDEST, VERSION):
            raise ValueError(f"trial data of version {version!r}: this benchmatrix reads {OLDEST} to {VERSION}")
        try:
            given = values["trial"]
            trial = Trial(int(given["number"]), Cell.from_json(given["cell"]), float(given["slowdown"]))
            pairs = tuple(
                Pair(int(number), tuple(map(float, cell)), tuple(map(float, twin)), int(early), bool(disturbed))
                for number, early, disturbed, cell, twin in (_complete(pair) for pair in values["pairs"])
            )
            return cls(
                trial,
                float(values["planted"]),
                int(values["rounds"]),
                tuple(map(int, values["looks"])),
                pairs,
                float(values["seconds"]),
                values.get("reason"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not trial data: {error}") from error


def _complete(pair: Sequence[Any]) -> Sequence[Any]:
    """Add the value that a pair of the oldest version lacks."""
    return (*pair[:2], False, *pair[2:]) if len(pair) == 4 else pair


def trial_data(
    trial: Trial, records: Sequence[Record], rounds: int, looks: tuple[int, ...], seconds: float
) -> TrialData:
    """Extract the data of a trial from its records."""
    bad = next((record for record in records if record.status != OK), None)
    # Each process calibrates its samples, and so its slowdown, by itself.
    found = [record.settings["planted slowdown"] for record in records if "planted slowdown" in record.settings]
    planted = sum(found) / len(found) if found else 0.0
    made = timed_processes(records)
    originals = {process.key: process for process in made if not is_twin(process.record.cell)}
    twins = sorted((one for one in made if is_twin(one.record.cell)), key=lambda one: one.record.round)
    pairs = [_pair(originals[twin.key], twin) for twin in twins if twin.key in originals]
    reason = f"{bad.status} in {bad.stage}: {bad.reason}" if bad is not None else None
    if pairs and abs(planted - trial.slowdown) > PRECISION * trial.slowdown:
        reason = f"{planted:.2%} were planted instead of {trial.slowdown:.2%}: the steps are too long"
        pairs = []
    return TrialData(trial, float(planted), rounds, looks, tuple(pairs), seconds, reason)


def _pair(cell: TimedProcess, twin: TimedProcess) -> Pair:
    turns = np.intersect1d(cell.turns.turns, twin.turns.turns, assume_unique=True)
    early = int(np.count_nonzero(turns < max(cell.turns.steady_turn, twin.turns.steady_turn)))
    disturbed = cell.disturbed or twin.disturbed
    return Pair(cell.record.round, _ns(cell.turns, turns), _ns(twin.turns, turns), early, disturbed)


def _ns(process: Process, turns: TurnArray) -> tuple[float, ...]:
    # A tenth of a nanosecond per step is below the resolution of the clock.
    return tuple(np.round(np.exp(process.log_s[np.isin(process.turns, turns)]) * 1e9, 1).tolist())
