"""Defines the requests to a worker, and refuses others before they are sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from .field_types import BYTES, CellValues, Count, Message, Number, Steps, Text, Word, check

#: So many requests are remembered.
MOST_KNOWN = 1000


class ImportRequest(Message):
    cell: CellValues
    memory_limit_bytes: BYTES | None = None
    cap_bytes: BYTES | None = None


class WarmRequest(Message):
    cell: CellValues


class PrepareRequest(Message):
    seed: Count
    reference: Text
    data: Text | None = None


class CalibrateRequest(Message):
    sample_s: Annotated[float, Field(gt=0)]
    slowdown: Number = 0.0
    sized_for: Number = 0.0


class ReferenceRequest(Message):
    workload: Word
    size: Word
    seed: Count
    path: Text
    data: Text | None = None
    mixed: Annotated[bool, Field(strict=True)] = False


class MoveRequest(Message):
    processors: Annotated[list[Count], Field(min_length=1)]


class TurnRequest(Message):
    samples: Steps
    turn: Count | None = None


class WorkRequest(Message):
    seconds: Annotated[float, Field(gt=0)]


class FinishRequest(Message):
    again: Annotated[bool, Field(strict=True)] = True
    growth: Annotated[bool, Field(strict=True)] = True


class PeaksRequest(Message):
    precisions: list[Word]


class LearnRequest(Message):
    seed: Count
    division_seed: Count
    share: Annotated[float, Field(gt=0, lt=1)]
    data: Text | None = None
    nudged: Count = 0


class EpochRequest(Message):
    pass


class FitRequest(Message):
    seed: Count
    items: Steps


#: What the host asks, by its name.
REQUESTS: dict[str, type[Message]] = {
    "reference": ReferenceRequest,
    "import": ImportRequest,
    "warm": WarmRequest,
    "prepare": PrepareRequest,
    "calibrate": CalibrateRequest,
    "move": MoveRequest,
    "turn": TurnRequest,
    "work": WorkRequest,
    "finish": FinishRequest,
    "peaks": PeaksRequest,
    "fit": FitRequest,
    "learn": LearnRequest,
    "epoch": EpochRequest,
}


#: Lines of requests that were found right: cells get the same ones.
_known: set[bytes] = set()


def encode(request: Mapping[str, Any]) -> bytes:
    """Return the line of a request. Raises Malformed for one that no worker understands: an error of the host."""
    try:
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        _check(request)
        raise
    if line not in _known:
        _check(request)
        if len(_known) < MOST_KNOWN:
            _known.add(line)
    return line


def _check(request: Mapping[str, Any]) -> None:
    do = str(request.get("do"))
    check(REQUESTS.get(do), request, do)
