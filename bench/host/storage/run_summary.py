"""Stores what a run measured as one small file of JSON lines, for a history in git and for comparing runs.

The first line describes the run, every other line is a cell: the times of its processes, and what a comparison has to
check. Raw samples stay in the records of the run.

Schema history:
  1 (2026-11-22): first version.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from bench.record import OK

from ..refusal import Refused, naming
from ..setup.staging import write_whole
from ..workers.field_types import Count, Named, Text, Versions, Word, first_problem
from .file_names import folder_name
from .lines import NewerSchema, parsed
from .manifest import RUN
from .old_settings import in_present_words
from .record_schema import Small

SCHEMA_VERSION = 1
SUFFIX = ".jsonl"
#: A larger file is not one of ours: a run of 10,000 cells has 4 MB.
LARGEST_BYTES = 64 << 20

#: The time of a step: its logarithm is taken, and so are ratios of two. None is longer than 30 years.
StepSeconds = Annotated[float, Field(strict=True, ge=1e-12, le=1e9, allow_inf_nan=False)]
LogRatio = Annotated[float, Field(strict=True, ge=-50, le=50, allow_inf_nan=False)]


class CellSummary(BaseModel):
    """What one cell of a run has; ``settings``, ``versions`` and ``work`` are places in lists of the run."""

    model_config = ConfigDict(strict=True, frozen=True)

    #: Names, as ``bench.cell`` gives them: ``torch2:compile`` and ``mlp-train/small/float32/cpu``.
    column: Word
    row: Word
    threads: Small
    #: A record's status, or ``not run``.
    status: Word = OK
    reason: Text = ""
    #: Median seconds per step of each process that counts, in the order of the rounds.
    step_s: list[StepSeconds] = []
    #: Logarithms of its time over the baseline's, one of each pair of processes that took turns.
    log_ratios: list[LogRatio] = []
    #: The column that these are to, where the baseline is no column: the best of the row, or the version before.
    base: Word = ""
    #: Processes that other programs disturbed most of the time.
    disturbed: Small = 0
    #: Whether one number cannot describe its samples; files before 2026-11-29 never say so.
    unsteady: bool = False
    settings: Small = 0
    versions: Small = 0
    work: Small = 0

    @property
    def key(self) -> tuple[str, str, int]:
        return self.column, self.row, self.threads

    @property
    def name(self) -> str:
        return f"{self.column} {self.row}"

    @property
    def environment(self) -> str:
        return self.column.partition(":")[0]

    @property
    def mode(self) -> str:
        return self.column.partition(":")[2]

    @property
    def workload(self) -> str:
        return self.row.partition("/")[0]


class RunFacts(BaseModel):
    """How a run was measured, and on what: the first line of its file."""

    model_config = ConfigDict(strict=True, frozen=True, populate_by_name=True)

    schema_number: Annotated[int, Field(strict=True, ge=1, alias="schema")] = SCHEMA_VERSION
    run: Word
    label: Word = ""
    #: In UTC, as series have runs of several machines, ``2026-11-22 03:17:22``; local time before 2026-11-30.
    started: Word = ""
    study: Word = ""
    profile: Word = ""
    #: ``forked`` or ``own``.
    workers: Word = ""
    trial: bool = False
    seed: Count | None = None
    #: The schema of its records.
    records_schema: Small = 0
    baseline: Word | None = None
    machine: Named = {}
    #: {environment: {"python": version, package: version}}
    environments: dict[Word, Versions] = {}
    #: {environment/workload: a digest of the files that define its program}; empty in older runs.
    programs: dict[Word, Word] = {}
    #: Settings that were read back in the workers; versions of what computed; what a step computes, and on which data.
    settings: list[Annotated[dict[Word, Text], AfterValidator(in_present_words)]] = []
    versions: list[Versions] = []
    work: list[Named] = []

    @property
    def name(self) -> str:
        return f"{self.run} {self.label!r}" if self.label else self.run

    def settings_of(self, cell: CellSummary) -> Mapping[str, str]:
        return _at(self.settings, cell.settings)

    def versions_of(self, cell: CellSummary) -> Mapping[str, str]:
        return _at(self.versions, cell.versions)

    def work_of(self, cell: CellSummary) -> Mapping[str, Any]:
        return _at(self.work, cell.work)

    def program_of(self, cell: CellSummary) -> str | None:
        """Return the digest of a cell's program; None where the run does not say."""
        return self.programs.get(f"{cell.environment}/{cell.workload}")


@dataclass(frozen=True)
class RunSummary:
    """One run: its facts and its cells."""

    facts: RunFacts
    cells: tuple[CellSummary, ...]
    #: The lines of its file that were left out, each with the reason.
    damaged: tuple[str, ...] = field(default=(), compare=False)


def _at(values: list[Any], place: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = values[place] if place < len(values) else {}
    return found


def write(folder: Path, summary: RunSummary) -> Path:
    """Write the file of a run into a history; return its path. A file that is there is replaced.

    Raises Refused, also where the run has a name that no file can have: names never become paths.
    """
    run = summary.facts.run
    if not run or folder_name(run) != run:
        raise Refused(f'{run!r} is not the name of a run. Correct "run" in its {RUN}, or restore the file from a copy.')
    path = folder / f"{run}{SUFFIX}"
    lines = [summary.facts.model_dump(by_alias=True)]
    lines += [cell.model_dump(exclude_defaults=True) for cell in summary.cells]
    with naming(path):
        write_whole(path, "".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def read(path: Path) -> RunSummary:
    """Read the file of a run. Raises Refused for a file that is none, and NewerSchema for one of a newer version.

    A cell's line that is damaged, such as by a conflict in git, is left out.
    """
    with naming(path):
        mode = path.stat()
        if not stat.S_ISREG(mode.st_mode) or mode.st_size > LARGEST_BYTES:
            raise Refused(f"{path}: is not the summary of a run. Move it away; then run the same again.")
        first, *lines = path.read_bytes().split(b"\n")
    try:
        facts = _facts(first)
    except NewerSchema:
        raise NewerSchema(f"{path}: a newer benchmatrix wrote it: update benchmatrix, or move it away") from None
    except ValueError as error:
        raise Refused(f"{path}: is not the summary of a run: {error}. Move it away; then run the same again.") from None
    damaged, cells = [], []
    for number, line in enumerate(lines, 2):
        if not line:
            continue
        try:
            cells.append(CellSummary.model_validate_json(line))
        except ValidationError as error:
            damaged.append(f"{path.name}:{number}: {first_problem(error)}")
    return RunSummary(facts, tuple(cells), tuple(damaged))


def _facts(line: bytes) -> RunFacts:
    try:
        facts = RunFacts.model_validate_json(line)
    except ValidationError as error:
        if _schema_of(line) > SCHEMA_VERSION:
            raise NewerSchema from None
        raise ValueError(first_problem(error)) from None
    if facts.schema_number > SCHEMA_VERSION:
        raise NewerSchema
    return facts


def _schema_of(line: bytes) -> int:
    """Return the schema of a line whose other values may have forms of a newer version; 0 where it has none."""
    try:
        found = parsed(line).get("schema")
    except ValueError:
        return 0
    return found if isinstance(found, int) else 0
