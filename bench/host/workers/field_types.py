"""Defines the types of the values that come from elsewhere: from a worker, and from a file of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.record import STAGES

#: A value of a setting, a version or a fact. A file of JSON can hold numbers that no program can use.
LARGEST = 1 << 63
Word = Annotated[str, Field(max_length=500)]
Text = Annotated[str, Field(max_length=100_000)]
Number = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, ge=0, le=1e9, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, lt=LARGEST)]
Steps = Annotated[int, Field(strict=True, ge=1, lt=1 << 40)]
#: At most 11 days.
NanoSeconds = Annotated[int, Field(strict=True, ge=0, le=10**15)]
BYTES = Annotated[int, Field(strict=True, ge=0, lt=1 << 60)]
Stage = Literal[STAGES]  # type: ignore[valid-type]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Projections = Annotated[list[Finite], Field(min_length=1, max_length=100)]
Whole = Annotated[int, Field(strict=True, gt=-LARGEST, lt=LARGEST)]
Plain = Annotated[bool, Field(strict=True)] | Whole | Finite | Text | None
Named = Annotated[dict[Word, Plain | list[Plain]], Field(max_length=1000)]
Versions = Annotated[dict[Word, Word], Field(max_length=1000)]
Memory = Annotated[dict[Word, BYTES | None], Field(max_length=1000)]
#: Outputs that are checked: a training step has one for each of its parameters, and the loss.
MOST_OUTPUTS = 10_000
Check = Annotated[dict[Word, Plain | Named], Field(max_length=MOST_OUTPUTS)]


class Facts(BaseModel):
    """Facts of which some have fixed types; further ones are plain values or lists of them."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False, defer_build=True)
    __pydantic_extra__: dict[str, Plain | list[Plain]]


class Compilation(Facts):
    compiled: Text | None = None
    graphs: Count | None = None
    graph_breaks: Count | None = None
    traces: Count | None = None
    recompiled_while_timing: Whole | None = None
    graph_break_reasons: Annotated[list[Text], Field(max_length=10_000)] | None = None


class Work(Facts):
    useful_flops: Number
    compulsory_bytes: Number
    flops_divisor: Annotated[float, Field(gt=0)] = 1.0
    items: Number | None = None
    item: Word | None = None


def first_problem(error: ValidationError) -> str:
    """Say where the first wrong value is, and what is wrong: ``sample_ns[0]: must be a valid integer``."""
    detail = error.errors(include_url=False, include_input=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    said = detail["msg"].replace("Input should", "must").removeprefix("Value error, ")
    return f"{place[:200]}: {said[:300]}" if place else said[:300]


class Malformed(ValueError):
    """A line is not a message, or a request is not one; the error says what is wrong with it."""


class Message(BaseModel):
    """What all messages have in common: exact types, and further keys with plain values."""

    # A run needs few of the messages, and defining one takes a millisecond.
    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False, defer_build=True)
    __pydantic_extra__: dict[str, Plain | list[Plain] | dict[str, Plain]]


class CellValues(BaseModel):
    """The values of a cell."""

    model_config = ConfigDict(strict=True, defer_build=True)

    environment: Word
    framework: Word
    mode: Word
    workload: Word
    size: Word
    precision: Word
    device: Word
    threads: Steps
    threads_named: bool = False
    devices: Steps = 1


def check(model: type[Message] | None, message: Mapping[str, Any], name: str) -> None:
    """Raise Malformed where ``message`` breaks the rules of ``model``; without a model there are none."""
    if model is None:
        return
    try:
        model.model_validate(message)
    except ValidationError as error:
        raise Malformed(f"the message {name!r} with a wrong value: {first_problem(error)}") from None
