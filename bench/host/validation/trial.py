"""Knows what one comparison with a known answer is, and what is kept of it: the trace, from which all else follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.cell import Cell
from bench.record import OK, Record

from ..noise_watch import compared_ns, left_out
from ..twin import is_twin

#: What was planted may differ from what was asked for by this share of it.
PRECISION = 0.15
#: Version of a trace's form.
VERSION = 1


@dataclass(frozen=True)
class Trial:
    """A cell against itself, the second time with ``slowdown`` as a share of real extra work; 0 is A/A."""

    number: int
    cell: Cell
    slowdown: float


@dataclass(frozen=True)
class Pair:
    """The common turns of two processes: nanoseconds per step of the cell, and of its twin, as they are compared."""

    round: int
    cell_ns: tuple[float, ...]
    twin_ns: tuple[float, ...]


@dataclass(frozen=True)
class Trace:
    """What a trial came to."""

    trial: Trial
    #: The share of extra steps that was really run; samples hold whole steps.
    planted: float
    rounds: int
    pairs: tuple[Pair, ...]
    #: Wall seconds of the whole comparison, both cells and everything around them.
    seconds: float
    #: Why a comparison has no pairs.
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        pairs = [[p.round, _rounded(p.cell_ns), _rounded(p.twin_ns)] for p in self.pairs]
        return {**asdict(self), "version": VERSION, "trial": asdict(self.trial), "pairs": pairs}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Trace:
        """Rebuild a trace; raises ValueError for what is none."""
        if values.get("version") != VERSION:
            raise ValueError(f"trace version {values.get('version')!r} is not {VERSION}")
        try:
            given = values["trial"]
            trial = Trial(int(given["number"]), Cell.from_json(given["cell"]), float(given["slowdown"]))
            pairs = tuple(Pair(int(n), tuple(map(float, a)), tuple(map(float, b))) for n, a, b in values["pairs"])
            return cls(
                trial,
                float(values["planted"]),
                int(values["rounds"]),
                pairs,
                float(values["seconds"]),
                values.get("reason"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a trace: {error}") from error


def _rounded(values: Iterable[float]) -> list[float]:
    # A tenth of a nanosecond per step is below what the clock tells.
    return [round(value, 1) for value in values]


def trace_of(trial: Trial, records: Sequence[Record], rounds: int, seconds: float) -> Trace:
    """Keep what a trial's records say."""
    bad = next((record for record in records if record.status != OK), None)
    planted = next((r.settings["planted slowdown"] for r in records if "planted slowdown" in r.settings), 0.0)
    originals = {(r.round, r.attempt): r for r in records if r.status == OK and not is_twin(r.cell)}
    pairs = []
    for record in sorted((r for r in records if r.status == OK and is_twin(r.cell)), key=lambda r: r.round):
        other = originals.get((record.round, record.attempt))
        if other is not None:
            pairs.append(_pair(other, record))
    reason = f"{bad.status} in {bad.stage}: {bad.reason}" if bad is not None else None
    if pairs and abs(planted - trial.slowdown) > PRECISION * trial.slowdown:
        reason = f"{planted:.2%} were planted instead of {trial.slowdown:.2%}: its steps are too long"
        pairs = []
    return Trace(trial, float(planted), rounds, tuple(pairs), seconds, reason)


def _pair(cell: Record, twin: Record) -> Pair:
    mine, theirs = _by_turn(cell), _by_turn(twin)
    turns = sorted(set(mine) & set(theirs))
    return Pair(cell.round, tuple(mine[turn] for turn in turns), tuple(theirs[turn] for turn in turns))


def _by_turn(record: Record) -> dict[int, float]:
    skipped = left_out(record)
    steps = zip(record.sample_turn, compared_ns(record).tolist(), record.sample_steps, strict=True)
    return {turn: ns / count for turn, ns, count in steps if turn not in skipped}
