"""Stores what trainings to a result gave: a file of JSON lines, whose first line says how all of them were trained.

reports/<study>/training/training.jsonl      in its history/ those of other trainings

Schema history:
  1 (2026-11-22): first version.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.cell import Cell
from bench.record import OK, STATUSES

from ..refusal import Refused, naming
from ..workers.field_types import (
    Count,
    Named,
    NanoSeconds,
    Number,
    Projections,
    Seconds,
    Steps,
    Text,
    Versions,
    Word,
    first_problem,
)
from . import archive, journal, lines, moves
from .file_names import free, slug
from .manifest_schema import FrameworkNames

SCHEMA_VERSION = 1
FILE = "training.jsonl"
Share = Annotated[float, Field(strict=True, ge=0, le=1)]


class Stored(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class TrainingFacts(Stored):
    """How everything in a file was trained."""

    #: Hash of what decides the results.
    identity: Word
    started: Word
    study: Word
    baseline: Word
    epochs: Steps
    seeds: list[Count]
    #: The seed that decides which examples are held out, and their share of all.
    division_seed: Count
    share: Share
    #: The accuracy to which the time is told; None for none.
    target: Share | None = None
    machine: dict[str, Any] = {}
    #: {framework: its names}, of those that other people's sources define.
    frameworks: dict[Word, FrameworkNames] = {}
    schema_version: Count = SCHEMA_VERSION


class EpochResult(Stored):
    """One epoch; times are those of the steps, values those of the examples that are held out."""

    train_ns: NanoSeconds
    cpu_ns: NanoSeconds
    accuracy: Share
    cross_entropy: Number
    squared_error: Number


class Trained(Stored):
    """One training: a cell with a seed, in a process of its own."""

    cell: dict[str, str | int | bool]
    seed: Count
    #: Whether the initial weights were changed in the last bit.
    nudged: bool = False
    status: Literal[STATUSES] = OK  # type: ignore[valid-type]
    stage: Word | None = None
    reason: Text | None = None
    #: Examples for training and for validation, of a batch, and batches of an epoch.
    training: Count = 0
    validation: Count = 0
    batch: Count = 0
    steps: Count = 0
    #: Build, first call and the steps in which compilers still work.
    start_s: Seconds = 0.0
    data: Text = ""
    epochs: list[EpochResult] = []
    #: Projections of what the first epoch changed in each parameter.
    update: dict[Word, Projections] = {}
    versions: Versions = {}
    settings: Named = {}

    @property
    def coordinate(self) -> Cell:
        return Cell.from_json(self.cell)

    @property
    def key(self) -> tuple[Cell, int, bool]:
        return self.coordinate, self.seed, self.nudged

    @property
    def train_s(self) -> float:
        """Seconds of all steps."""
        return sum(epoch.train_ns for epoch in self.epochs) / 1e9


def folder_of(root: Path, study: str) -> Path:
    return archive.folder_of(root, study) / archive.TRAINING


def read(folder: Path, damaged: list[str] | None = None) -> tuple[TrainingFacts, list[Trained]] | None:
    """Return what a folder holds, each training once; None where it holds nothing. Raises Refused.

    A damaged line is left out; ``damaged`` gets its place and the reason.
    """
    damaged = [] if damaged is None else damaged
    facts: TrainingFacts | None = None
    found: dict[tuple[Cell, int, bool], Trained] = {}
    for place, values in lines.StoredLines(folder / FILE, damaged):
        if isinstance(newer := values.get("schema_version"), int) and newer > SCHEMA_VERSION:
            raise lines.NewerSchema(
                f"{place}: schema {newer} of trainings is newer than {SCHEMA_VERSION}: update benchmatrix, or move the "
                "file away"
            )
        try:
            if facts is None:
                facts = TrainingFacts.model_validate(values)
            else:
                trained = Trained.model_validate(values)
                found[trained.key] = trained
        except (ValidationError, KeyError) as error:
            said = first_problem(error) if isinstance(error, ValidationError) else f"no {error} in the cell"
            raise Refused(f"{place}: not a training ({said}). Move the file away, and train again.") from None
    return None if facts is None else (facts, list(found.values()))


def begin(folder: Path, facts: TrainingFacts, *, fresh: bool) -> list[Trained]:
    """Begin the trainings that ``facts`` describe, or continue them: return those that are done and did not fail.

    Others in the folder are moved to its history. Raises Refused.
    """
    with naming(folder):
        # When this command looked for such files, a killed one may still have been moving them.
        moves.restore(folder)
    before = read(folder)
    if before is not None and before[0].identity == facts.identity and not fresh:
        journal.end_last_line(folder / FILE)
        return [one for one in before[1] if one.status == OK]
    with naming(folder):
        # A file of which no line can be read is moved, too: a person may mend it.
        if before is not None or (folder / FILE).exists():
            _archive(folder, before[0].started if before is not None else "unknown")
        folder.mkdir(parents=True, exist_ok=True)
        lines.append(folder / FILE, facts.model_dump(mode="json"), sync=True)
    return []


def _archive(folder: Path, started: str) -> None:
    moves.away(list(archive.files_of(folder)), folder, free(folder / archive.HISTORY / slug(started)))


def append(folder: Path, trained: Sequence[Trained]) -> None:
    """Keep trainings as soon as they are done."""
    with naming(folder):
        for one in trained:
            lines.append(folder / FILE, one.model_dump(mode="json"), sync=True)
