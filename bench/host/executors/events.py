"""Defines the events that a row measurement emits while it runs, each of which can be written as a line of JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bench.record import Record

from ..storage.manifest_schema import MachineSchema, PeaksSchema
from ..storage.record_schema import SampleSchema, TurnSchema, record_of, verify


@dataclass(frozen=True)
class Progress:
    """A process enters a stage, such as ``importing``, ``preparing`` or ``measuring``."""

    stage: str
    #: Name of the cell.
    cell: str


@dataclass(frozen=True)
class Ready:
    """A process can be timed; ``record`` holds what is known of it, and no samples yet."""

    record: Record


@dataclass(frozen=True)
class TurnTaken:
    """A process took a turn."""

    #: Name of the cell.
    cell: str
    round: int
    attempt: int
    #: {list of the record: the values of this turn}
    samples: Mapping[str, list[int]]


@dataclass(frozen=True)
class PeaksFound:
    """A cell was faster than the known peaks of the machine, so they were measured again."""

    #: ``environment/device``, followed by the number of threads where it is not the highest.
    key: str
    #: The best of both measurements.
    peaks: Mapping[str, Any]


@dataclass(frozen=True)
class Finished:
    """A process is over, or was interrupted after some turns; ``record`` is final."""

    record: Record


@dataclass(frozen=True)
class Waited:
    """The measurement is over; the host only waited for workers during so many seconds of it."""

    seconds: float


@dataclass(frozen=True)
class Described:
    """The answer to ``ASKED``, which comes between jobs."""

    #: The machine on which the jobs run: see ``bench.host.machine.facts``.
    machine: Mapping[str, Any]


Event = Progress | Ready | TurnTaken | PeaksFound | Finished | Waited | Described
#: A line in the place of a job: what machine is this?
ASKED = {"ask": "machine"}
#: Receives the events as they happen.
Emit = Callable[[Event], None]

_KINDS: dict[str, type[Any]] = {
    "progress": Progress,
    "ready": Ready,
    "turn": TurnTaken,
    "peaks": PeaksFound,
    "finished": Finished,
    "waited": Waited,
    "machine": Described,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(event: Event) -> dict[str, Any]:
    """Return the event as a JSON object; ``event`` holds its kind."""
    return {"event": _NAMES[type(event)], **asdict(event)}


def _verify(event: Event) -> None:
    """Raise ValueError where a value of an event has another type: it may come from another machine."""
    match event:
        case TurnTaken(cell, number, attempt, samples):
            verify(TurnSchema, {"turn": samples, "of": (cell, number, attempt)})
            if not samples.keys() <= SampleSchema.model_fields.keys():
                raise ValueError("samples: has other lists")
        case Progress(stage, cell):
            if not isinstance(stage, str) or not isinstance(cell, str):
                raise ValueError("stage and cell must be texts")
        case PeaksFound(key, found):
            if not isinstance(key, str):
                raise ValueError("key: must be a text")
            verify(PeaksSchema, found)
        case Described(machine):
            verify(MachineSchema, machine)
        case Waited(seconds):
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 1e9:
                raise ValueError("seconds: must be a number")


def from_json(values: Mapping[str, Any]) -> Event:
    """Rebuild an event; raises ValueError for what is none."""
    given = dict(values)
    try:
        kind = _KINDS[given.pop("event")]
        if "record" in given:
            given["record"] = record_of(given["record"], "the record of an event")
        made: Event = kind(**given)
        _verify(made)
        return made
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not an event of a row measurement: {error!r}") from error
