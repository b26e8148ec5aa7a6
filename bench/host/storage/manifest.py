"""Describes one run: what was planned, on which machine, in which environments, and how far the run came.

The description is ``run.json`` in the folder of the run. It is rewritten whole, atomically, whenever it changes.

Schema history:
  1 (2026-11-21): first version; the file has no schema number.
  2 (2026-11-22): ``schema`` holds the number; ``label`` and ``kept`` may be missing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ..refusal import Refused, naming
from ..setup.staging import write_whole
from ..study.baseline import CHOSEN, SPEED_UP
from ..study.suggestion import unknown
from ..workers.field_types import Count, Seconds, Text, Word, first_problem
from .lines import NewerSchema, parsed
from .manifest_schema import (
    Flag,
    FrameworkNames,
    Installed,
    LargestBatch,
    Looks,
    Machine,
    PeakKey,
    Peaks,
    Rounds,
    StoredCell,
)
from .record_schema import Small

if TYPE_CHECKING:
    # Reading what was measured need not wait for the definition of a study.
    from ..study.schema import Profile

SCHEMA_VERSION = 2
RUN = "run.json"
#: A larger file is not one of ours; the description of a study of 10,000 cells has 3 MiB.
LARGEST_BYTES = 64 << 20
#: Fields that whoever reads the file adds.
NOT_STORED = {"damaged", "hidden_cells"}

#: Why a row stopped: its verdicts are settled, it had the most rounds of the profile, or the time budget was spent.
SETTLED, MOST_ROUNDS, BUDGET = "settled", "most rounds", "budget"


class UnknownColumn(Refused):
    """The run has no such column; the message lists those that it has."""


@dataclass(frozen=True)
class Stop:
    """After how many rounds a row stopped, and why: ``SETTLED``, ``MOST_ROUNDS`` or ``BUDGET``."""

    rounds: Small
    why: Word


@dataclass(frozen=True)
class StudySummary:
    """The study that was measured."""

    name: Word = "study"
    title: Text = ""
    #: The column that ratios are taken to, such as ``torch1:eager``, or one of ``bench.host.study.baseline.CHOSEN``.
    baseline: Word | None = None
    #: What tables show: one of ``bench.host.study.baseline.RATIOS``.
    ratios: Word = SPEED_UP
    #: The study file, as ``--matrix`` takes it in the project's folder; empty where the run does not say.
    file: Text = ""


class ProfileSummary(BaseModel):
    """How thoroughly the run was measured: the values of its profile, of which only these are read again.

    ``bench.host.study.schema.Profile`` defines all of them. The file keeps the others as they are.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", defer_build=True)

    name: Word = "unnamed"
    rounds: Rounds | None = None
    #: Turns planned for each process; later turns repeat disturbed ones.
    samples: Small | None = None
    twin: bool = False
    #: ``cold``, or ``kept`` where compiled code stays between runs and the cells of an environment share it.
    compile_cache: Word = ""
    #: ``forked`` from one process for each environment and round, or each a process of its ``own``.
    workers: Word = ""
    trial: bool = False

    @classmethod
    def of(cls, profile: Profile) -> Self:
        """Return the values of a profile as a file gives them back, with lists in the place of tuples."""
        return cls(**profile.model_dump(mode="json"))


@dataclass(frozen=True)
class SpentSeconds:
    """Seconds that all invocations of the run took, and how many of them the host waited for workers."""

    elapsed: Seconds = 0.0
    waited_for_workers: Seconds = 0.0


@dataclass(frozen=True)
class Manifest:
    """The description of one run; a value that an older file lacks has its default."""

    #: The name of the run; it is part of every record.
    run: Word = ""
    #: The name that a person gave it, empty where nobody did; see ``stored_runs``.
    label: Word = ""
    #: Whether it stays in its folder: no other run may take its place, and it cannot be removed.
    kept: Flag = False
    #: Two invocations with the same identity are one run: see ``bench.host.storage.identity``.
    identity: Word = ""
    #: In UTC, as series have runs of several machines, ``2026-11-22 03:17:22``; local time before 2026-11-30.
    started: Word = ""
    study: StudySummary = field(default_factory=StudySummary)
    profile: ProfileSummary = field(default_factory=ProfileSummary)
    seed: Count | None = None
    #: The most threads that a cell has.
    threads: Count | None = None
    #: See ``bench.host.machine.facts``.
    machine: Machine = field(default_factory=dict)
    #: {framework: its names}, of those that other people's sources define: a report needs no file of theirs.
    frameworks: Mapping[Word, FrameworkNames] = field(default_factory=dict)
    #: {environment: what was installed there}
    environments: Mapping[Word, Installed] = field(default_factory=dict)
    #: {environment: files that changed while it was measured}
    changed_environments: Mapping[Word, Text] = field(default_factory=dict)
    #: Files of programs and of the worker that were edited while they were measured: each round imports them anew.
    changed_sources: tuple[Text, ...] = ()
    #: {environment/workload: a digest of the files that define its program}
    programs: Mapping[Word, Word] = field(default_factory=dict)
    #: Numbers of rounds after which verdicts are computed, ascending; empty where the file does not say.
    looks: Looks = ()
    budget_s: Seconds | None = None
    #: Whether cells get no ratio where a user could have made their settings equal to the baseline's.
    strict: Flag = False
    planned: tuple[StoredCell, ...] = ()
    #: Cells of the study that were not planned, each with the reason.
    excluded: tuple[tuple[StoredCell, Text], ...] = ()
    seconds: SpentSeconds = field(default_factory=SpentSeconds)
    finished: Flag = True
    #: Lines of its records when it ended, which a finished run keeps; None where the file does not say.
    recorded_lines: Count | None = None
    #: The best rates of the machine, {environment/device: rates}: see ``bench.host.measuring.peaks``.
    peaks: Mapping[PeakKey, Peaks] = field(default_factory=dict)
    #: {name of a cell: its largest batch}: see ``bench.host.measuring.largest_batch``.
    largest_batch: Mapping[Word, LargestBatch] = field(default_factory=dict)
    #: {row: its stop}
    stopped: Mapping[Word, Stop] = field(default_factory=dict)
    #: Peak memory of the host process.
    host_peak_bytes: Count = 0
    #: {column: why its cells are wrong}, where that was found after the run: see ``run_records``.
    retracted: Mapping[Word, Text] = field(default_factory=dict)
    #: The lines of the journal that were left out, each with the reason.
    damaged: tuple[str, ...] = ()
    #: Cells that a report leaves out, because somebody chose others.
    hidden_cells: int = 0

    def spend(self, *, elapsed: float = 0.0, waited_for_workers: float = 0.0) -> Manifest:
        """Return the manifest with these seconds added."""
        waited = self.seconds.waited_for_workers + waited_for_workers
        return replace(self, seconds=SpentSeconds(self.seconds.elapsed + elapsed, waited))

    def with_baseline(self, column: str) -> Manifest:
        """Return the manifest with another baseline; raises UnknownColumn where no planned cell has it."""
        columns = list(dict.fromkeys(cell.column for cell in self.planned))
        if column not in (*columns, *CHOSEN):
            raise UnknownColumn(f"--baseline: {unknown('column', column, columns)}")
        return replace(self, study=replace(self.study, baseline=column))

    def to_json(self) -> dict[str, Any]:
        values = {**asdict(self), "profile": self.profile.model_dump()}
        return {"schema": SCHEMA_VERSION, **{name: value for name, value in values.items() if name not in NOT_STORED}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Manifest:
        """Rebuild a manifest from the content of a file of this or an older schema; unknown keys are ignored.

        Raises NewerSchema for a newer schema, and ValueError where a value has not the form that it must have.
        """
        schema = values.get("schema", 1)
        if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
            raise ValueError(f"schema {schema!r:.40} is not a number of one")
        if schema > SCHEMA_VERSION:
            raise NewerSchema(
                f"{RUN} has schema {schema!r}; this benchmatrix reads schemas up to {SCHEMA_VERSION}: "
                "update benchmatrix, or move the folder of the run away"
            )
        stored = {name: value for name, value in values.items() if name not in NOT_STORED and value is not None}
        try:
            made = _stored().validate_python(stored)
        except ValidationError as error:
            raise ValueError(first_problem(error)) from None
        # Before there were several looks, verdicts were computed once, after the last round.
        looks = made.looks or ((made.profile.rounds,) if made.profile.rounds else ())
        return replace(made, looks=looks)


@functools.cache
def _stored() -> TypeAdapter[Manifest]:
    """Return what checks and makes a manifest; many commands read none."""
    return TypeAdapter(Manifest)


def read(folder: Path, damaged: list[str] | None = None) -> Manifest | None:
    """Read the manifest of the run in ``folder``; None where there is none or the file is damaged.

    ``damaged`` gets what is wrong with the file. Raises NewerSchema when a newer benchmatrix wrote it.
    """
    path = folder / RUN
    try:
        if not path.is_file() and (path.exists() or path.is_symlink()):
            raise ValueError("it is not a regular file")
        if path.is_file() and path.stat().st_size > LARGEST_BYTES:
            raise ValueError(f"it has more than {LARGEST_BYTES >> 20} MiB")
        return Manifest.from_json(parsed(path.read_text(encoding="utf-8")))
    except NewerSchema as error:
        raise NewerSchema(f"{folder}: {error}") from None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        if damaged is not None:
            damaged.append(getattr(error, "strerror", None) or str(error))
        return None


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of the run in ``folder`` as a whole. Raises Refused where the disk does not take it."""
    with naming(folder / RUN):
        write_whole(folder / RUN, json.dumps(manifest.to_json(), indent=1))
