"""Defines the messages of a worker, and refuses everything else: a worker runs other people's code.

A message is a line of JSON. Its keys, types, lengths and ranges are checked before anything is done with it; keys that
are not defined here are left alone where their values are plain. ``requests`` defines the other direction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from bench.record import STATUSES

from .field_types import (
    BYTES,
    MOST_OUTPUTS,
    Check,
    Compilation,
    Count,
    Malformed,
    Memory,
    Message,
    Named,
    NanoSeconds,
    Number,
    Projections,
    Seconds,
    Stage,
    Steps,
    Text,
    Versions,
    Word,
    Work,
    check,
)

#: A longer line is not a message; without a limit it could exhaust the memory.
LONGEST_MESSAGE_BYTES = 4 << 20
#: So many lines about stages are remembered: all workers send the same ones.
MOST_KNOWN = 100
#: A worker that announces more stages before an answer does not work on one.
MOST_STAGES = 100
#: A longer reason is cut.
LONGEST_REASON = 4000
#: Two readings of a clock and one call of Python take longer than this.
SHORTEST_SAMPLE_NS = 100


class Started(Message):
    python: Word = ""


class Entered(Message):
    stage: Stage


class EndedMessage(Message):
    status: Literal[STATUSES[1:]]  # type: ignore[valid-type]
    stage: Stage
    reason: str


class Imported(Message):
    import_s: Seconds | None
    versions: Versions


class Warmed(Message):
    seconds: Seconds


class PreparedMessage(Message):
    first_call_s: Seconds
    keeps_code: bool
    check: Check
    work: Work | None
    data: Text | None


class Calibrated(Message):
    warmup_ns: Annotated[list[NanoSeconds], Field(max_length=100_000)]


class TurnMessage(Message):
    """The samples of one turn, one value in each list; ``sample_wait_ns`` is empty where it is not known."""

    sample_steps: Annotated[list[Steps], Field(min_length=1, max_length=100_000)]
    sample_ns: Annotated[list[NanoSeconds], Field(min_length=1)]
    sample_cpu_ns: list[NanoSeconds]
    sample_wait_ns: list[NanoSeconds] = Field(default_factory=list)
    #: The reading of the clock that times the samples.
    clock_ns: int | None = None

    @model_validator(mode="after")
    def _one_value_for_each_sample(self) -> Self:
        count = len(self.sample_ns)
        if not len(self.sample_steps) == len(self.sample_cpu_ns) == count or len(self.sample_wait_ns) not in (0, count):
            raise ValueError("the lists of samples have different lengths")
        for ns, steps in zip(self.sample_ns, self.sample_steps, strict=True):
            if ns < SHORTEST_SAMPLE_NS or ns < steps:
                raise ValueError(f"no clock can time {steps} steps in {ns} ns")
        return self


class Worked(Message):
    steps: Steps
    seconds: Annotated[float, Field(strict=True, gt=0, le=1e9)]


class FinishedMessage(Message):
    memory: Memory
    settings: Named
    compilation: Compilation | None = None
    #: Steps that were checked again after timing.
    checked_again: Steps | None = None


class Peaks(Message):
    flops_per_s: Annotated[dict[Word, Number], Field(max_length=100)]
    bandwidths: Annotated[list[Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(max_length=1000)]
    reasons: Annotated[dict[Word, Text], Field(max_length=100)]


class Fitted(Message):
    peak_bytes: BYTES
    items: Count
    item: Word


class Learning(Message):
    """How a training to a result begins."""

    training: Steps
    validation: Steps
    batch: Steps
    steps: Steps
    #: Build, first call and the steps in which compilers still work.
    start_s: Seconds
    data: Text
    #: The hash of the initial weights and of the batches of the first epoch.
    digest: Word


class EpochMessage(Message):
    """One epoch: the time of its steps, and what the network gives for the examples that are held out."""

    epoch: Steps
    train_ns: NanoSeconds
    cpu_ns: NanoSeconds
    accuracy: Annotated[float, Field(strict=True, ge=0, le=1)]
    cross_entropy: Number
    squared_error: Number
    #: Projections of what the first epoch changed in each parameter.
    update: Annotated[dict[Word, Projections], Field(max_length=MOST_OUTPUTS)] | None = None


#: What a worker says, by its event.
MESSAGES: dict[str, type[Message]] = {
    "started": Started,
    "stage": Entered,
    "ended": EndedMessage,
    "referenced": Message,
    "imported": Imported,
    "warmed": Warmed,
    "prepared": PreparedMessage,
    "calibrated": Calibrated,
    "moved": Message,
    "turn": TurnMessage,
    "worked": Worked,
    "finished": FinishedMessage,
    "peaks": Peaks,
    "fitted": Fitted,
    "learning": Learning,
    "epoch": EpochMessage,
}
#: {request: the event of its answer}
ANSWERS = {
    "reference": "referenced",
    "import": "imported",
    "warm": "warmed",
    "prepare": "prepared",
    "calibrate": "calibrated",
    "move": "moved",
    "turn": "turn",
    "work": "worked",
    "finish": "finished",
    "peaks": "peaks",
    "fit": "fitted",
    "learn": "learning",
    "epoch": "epoch",
}


#: {line: the message}, of stages that were found right and have no other keys: all their values are strings.
_known: dict[bytes, dict[str, Any]] = {}


def parse(line: bytes) -> dict[str, Any]:
    """Return the message of a line. Raises Malformed.

    Keys that are missing and may be missing stay missing. An event that is not defined here has no rules: whoever asked
    for another one refuses it, see ``expect``.
    """
    if len(line) > LONGEST_MESSAGE_BYTES:
        raise Malformed(f"a line of more than {LONGEST_MESSAGE_BYTES >> 20} MiB, which is not a message")
    known = _known.get(line)
    if known is not None:
        return dict(known)
    message = _object(line)
    event = message.get("event")
    if not isinstance(event, str):
        raise Malformed(f"{line[:80]!r}, which is not a message")
    check(MESSAGES.get(event), message, event)
    if event == "stage" and len(message) == 2 and len(_known) < MOST_KNOWN:
        _known[line] = dict(message)
    return message


def _object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise Malformed(f"{line[:80]!r}, which is not a message")
    return message


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def expect(answer: Mapping[str, Any], do: str) -> None:
    """Raise Malformed unless ``answer`` is one to the request ``do``."""
    if answer.get("event") != ANSWERS[do]:
        raise Malformed(f"{str(answer.get('event'))[:80]!r} as the answer to {do!r}")


def cut(reason: str) -> str:
    """Shorten a reason that is too long for a record, and say so where there is none."""
    if not reason.strip():
        return "no reason was given"
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]} …"
