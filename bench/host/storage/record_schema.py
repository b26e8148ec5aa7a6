"""Checks the values of a stored record before it becomes one: a file may be damaged, or come from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bench.record import OK, SCHEMA_VERSION, STATUSES, Record

from ..workers.field_types import (
    CellValues,
    Check,
    Compilation,
    Count,
    Finite,
    Memory,
    Named,
    NanoSeconds,
    Number,
    Seconds,
    Steps,
    Text,
    Versions,
    Word,
    Work,
    first_problem,
)
from .lines import NewerSchema
from .old_settings import in_present_words

Turn = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
Sample = Annotated[int, Field(strict=True, ge=1, le=10**15)]
#: Rounds, attempts and turns; numbers of them that no run can have would exhaust the memory.
Small = Annotated[int, Field(strict=True, ge=0, le=10**8)]


class SampleSchema(BaseModel):
    """The lists of a record that grow with every turn, each with one value for each sample."""

    model_config = ConfigDict(strict=True, defer_build=True)

    sample_steps: list[Steps] = Field(default_factory=list)
    sample_ns: list[Sample] = Field(default_factory=list)
    sample_cpu_ns: list[NanoSeconds] = Field(default_factory=list)
    sample_wait_ns: list[NanoSeconds] = Field(default_factory=list)
    sample_turn: list[Small] = Field(default_factory=list)

    @model_validator(mode="after")
    def _lists_are_equally_long(self) -> Self:
        count = len(self.sample_ns)
        if {len(self.sample_steps), len(self.sample_cpu_ns), len(self.sample_turn)} != {count}:
            raise ValueError("the lists of samples have different lengths")
        if len(self.sample_wait_ns) not in (0, count):
            raise ValueError("sample_wait_ns is neither empty nor as long as sample_ns")
        return self


class EnergySchema(BaseModel):
    """What a cell took while it worked."""

    model_config = ConfigDict(strict=True, defer_build=True)

    counter: Word
    watts: Number
    idle_watts: Number | None = None
    steps: Steps
    seconds: Annotated[float, Field(gt=0, le=1e9)]


class RecordSchema(SampleSchema):
    """The values of a record; those that have a default may be missing."""

    cell: CellValues
    round: Small
    attempt: Small
    status: Literal[STATUSES]  # type: ignore[valid-type]
    stage: Word | None = None
    reason: Text | None = None
    run: Word = ""
    schema_: Count = Field(alias="schema")
    started_at: Annotated[float, Field(ge=0, le=1e11)] = 0.0
    import_s: Seconds | None = None
    import_alone: bool = False
    first_call_s: Seconds | None = None
    first_call_cache: Literal["cold", "warm", "unsure"] | None = None
    disturbed: dict[Turn, Text] = Field(default_factory=dict)
    other_load: Number | None = None
    frequency_mhz: list[Number] = Field(default_factory=list)
    gpu_frequency_mhz: list[Number] = Field(default_factory=list)
    gpu_clock_limits: dict[Word, Small] = Field(default_factory=dict)
    warmup_ns: list[NanoSeconds] = Field(default_factory=list)
    check: Check = Field(default_factory=dict)
    checked_again: Steps | None = None
    memory: Memory = Field(default_factory=dict)
    energy: EnergySchema | dict[Word, Finite] = Field(default_factory=dict)
    compilation: Compilation | None = None
    settings: Named = Field(default_factory=dict)
    versions: Versions = Field(default_factory=dict)
    work: Work | dict[Word, Finite] = Field(default_factory=dict)
    data: Text | None = None

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if self.status != OK and self.stage is None:
            raise ValueError(f"status {self.status!r} has no stage")
        return self


class TurnSchema(BaseModel):
    """A note about one turn."""

    model_config = ConfigDict(strict=False, defer_build=True)

    turn: SampleSchema
    #: Name of the cell, round, attempt.
    of: tuple[Text, Small, Small]


def record_of(values: Mapping[str, Any], place: str) -> Record:
    """Return the record of a line at ``place``.

    Raises ValueError for what is not one, and NewerSchema for one that a newer benchmatrix wrote.
    """
    schema = values.get("schema")
    if isinstance(schema, int) and not isinstance(schema, bool) and schema > SCHEMA_VERSION:
        raise NewerSchema(
            f"{place}: record schema {schema} is newer than {SCHEMA_VERSION}: update benchmatrix, or move the file away"
        )
    verify(RecordSchema, values)
    return Record.from_json({**values, "settings": in_present_words(values.get("settings", {}))})


def verify(schema: type[BaseModel], values: Any) -> None:
    """Raise ValueError unless ``values`` follow the schema; the message says where they do not."""
    try:
        schema.model_validate(values)
    except ValidationError as error:
        raise ValueError(first_problem(error)) from None
