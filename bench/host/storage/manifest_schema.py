"""Defines the types of what describes a run; they are checked when its file is read, as a file may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bench.cell import Cell
from bench.record import STATUSES

from ..study.contracts import LONGEST_NAME
from ..workers.field_types import BYTES, CellValues, Count, Named, Number, Text, Word
from .record_schema import verify

Flag = Annotated[bool, Field(strict=True)]
#: ``environment/device``, followed by the number of threads where it is not the highest.
PeakKey = Annotated[str, Field(pattern=r"^[^/]+/[^/]+(/[0-9]+)?$", max_length=500)]
Rounds = Annotated[int, Field(strict=True, ge=1, le=10**6)]


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} has a character that cannot be printed")
    return name


#: Tables, figures and pages show it.
ShownName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_printable)]


@dataclass(frozen=True)
class FrameworkNames:
    """What a framework is called."""

    # A file has a table in its place.
    __pydantic_config__ = ConfigDict(strict=False)

    #: By people.
    product: ShownName
    #: By a package index.
    distribution: ShownName


class ManifestTable(BaseModel):
    """The values of one table of the file; None stands for a missing value."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)


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


def _of(schema: type[BaseModel]) -> AfterValidator:
    """Check values by a schema, and leave them as they are."""

    def check(values: Mapping[str, Any]) -> Mapping[str, Any]:
        verify(schema, values)
        return values

    return AfterValidator(check)


def _cell(values: Any) -> Any:
    if isinstance(values, Cell):
        return values
    verify(CellValues, values)
    return Cell.from_json(values)


def _ascending(looks: tuple[int, ...]) -> tuple[int, ...]:
    if list(looks) != sorted(set(looks)):
        raise ValueError("looks do not ascend")
    return looks


StoredCell = Annotated[Cell, BeforeValidator(_cell)]
Looks = Annotated[tuple[Rounds, ...], Field(max_length=1000), AfterValidator(_ascending)]
Machine = Annotated[Mapping[str, Any], _of(MachineSchema)]
Installed = Annotated[Mapping[str, Any], _of(EnvironmentSchema)]
Peaks = Annotated[Mapping[str, Any], _of(PeaksSchema)]
LargestBatch = Annotated[Mapping[str, Any], _of(LargestBatchSchema)]
