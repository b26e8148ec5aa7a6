"""Checks the values of a stored description of a run before it becomes one: a file may be damaged."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bench.record import STATUSES

from ..workers.field_types import BYTES, Count, Named, Number, Seconds, Text, Word
from .record_schema import CellSchema, Small

#: ``environment/device``, followed by the number of threads where it is not the highest.
PeakKey = Annotated[str, Field(pattern=r"^[^/]+/[^/]+(/[0-9]+)?$", max_length=500)]
Rounds = Annotated[int, Field(strict=True, ge=1, le=10**6)]


class ManifestTable(BaseModel):
    """The values of one table of the file; None stands for a missing value."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)


class StudySchema(ManifestTable):
    name: Word | None = None
    title: Text | None = None
    baseline: Word | None = None
    ratios: Word | None = None
    file: Text | None = None


class ProfileSchema(ManifestTable):
    name: Word | None = None
    rounds: Rounds | None = None
    most_rounds: Rounds | None = None
    twin: bool | None = None
    peaks: bool | None = None
    samples: Small | None = None
    sample_seconds: Seconds | None = None
    sizes: list[Word] | None = None
    sizes_of: dict[Word, list[Word]] | None = None
    compile_cache: Word | None = None
    workers: Word | None = None
    trial: bool | None = None
    energy_s: Seconds | None = None
    timeout_s: Seconds | None = None
    verify: bool | None = None
    note: Text | None = None


class SecondsSchema(ManifestTable):
    elapsed: Seconds | None = None
    waited_for_workers: Seconds | None = None


class GpuSchema(ManifestTable):
    name: Word | None = None


class MachineSchema(ManifestTable):
    processor: Text | None = None
    memory_bytes: BYTES | None = None
    gpus: list[GpuSchema] | None = None


class EnvironmentSchema(ManifestTable):
    """What was installed in an environment; what is not used here may be anything."""

    provider: Word | None = None
    lock: Word | None = None
    lock_hash: Word | None = None
    interpreter: dict[Word, Any] | None = None
    requirements: list[Text] | None = None
    packages: dict[Word, Word] | None = None
    built_from_source: bool | None = None


class PeaksSchema(ManifestTable):
    threads: Count | None = None
    flops_per_s: dict[Word, Number] = Field(default_factory=dict)
    bandwidths: list[Annotated[list[Number], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    reasons: dict[Word, Text] = Field(default_factory=dict)
    reason: Text = ""


class LargestBatchSchema(ManifestTable):
    cap_bytes: BYTES
    attempts: list[Named] = Field(default_factory=list)
    status: Literal[STATUSES]  # type: ignore[valid-type]
    reason: Text | None = None
    batch: Count = 0
    items: Count = 0
    item: Word | None = None


class StopSchema(ManifestTable):
    rounds: Small
    why: Word


class RunSchema(ManifestTable):
    """The values of ``run.json``; all of them may be missing."""

    run: Word | None = None
    label: Word | None = None
    kept: bool | None = None
    identity: Word | None = None
    started: Word | None = None
    study: StudySchema | None = None
    profile: ProfileSchema | None = None
    seed: Count | None = None
    threads: Count | None = None
    machine: MachineSchema | None = None
    environments: dict[Word, EnvironmentSchema] | None = None
    changed_environments: dict[Word, Text] | None = None
    changed_sources: list[Text] | None = None
    programs: dict[Word, Word] | None = None
    looks: Annotated[list[Rounds], Field(max_length=1000)] | None = None
    budget_s: Seconds | None = None
    strict: bool | None = None
    planned: list[CellSchema] | None = None
    excluded: list[Annotated[list[CellSchema | Text], Field(min_length=2, max_length=2)]] | None = None
    seconds: SecondsSchema | None = None
    finished: bool | None = None
    recorded_lines: Count | None = None
    peaks: dict[PeakKey, PeaksSchema] | None = None
    largest_batch: dict[Word, LargestBatchSchema] | None = None
    stopped: dict[Word, StopSchema] | None = None
    host_peak_bytes: Count | None = None
    retracted: dict[Word, Text] | None = None

    @model_validator(mode="after")
    def _looks_ascend(self) -> Self:
        if self.looks is not None and self.looks != sorted(set(self.looks)):
            raise ValueError("looks do not ascend")
        return self
